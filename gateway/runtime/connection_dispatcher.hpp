// Where the life of an accepted connection begins.
#pragma once

#include "net/accept.hpp"
#include "permits/service.hpp"
#include "proxy/context.hpp"
#include "proxy/downstream/connection_slot.hpp"
#include "proxy/downstream/downstream.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace stint::runtime {

// What is spoken on a listener: requests to be forwarded, or asks for permits.
struct ListenerRole {
    proxy::ListenerOptions proxied;
    bool permits = false;
};

// The place, in `open`, of the worker that shall have the next connection, which was accepted by
// that in `own`: another one only where it has a good deal fewer.
[[nodiscard]] std::size_t pick_worker(std::span<const std::size_t> open, std::size_t own) noexcept;

class ConnectionDispatcher;

// All workers' ones.
struct ConnectionDispatchers {
    std::vector<ConnectionDispatcher*> all;
    std::vector<std::size_t> taken; // scratch of who chooses: how many seats of each
    // Who chooses a worker has its seat before the next one looks: two at once would choose the
    // same.
    std::mutex choosing;
};

// Of one worker. The kernel spreads connections over the workers' sockets by a hash of their
// addresses, so of a few connections that stay, all may come to one of them; the others then take
// some over. Outlives the threads of all workers; used on its own one's but for what is said.
class ConnectionDispatcher {
  public:
    ConnectionDispatcher(proxy::Context& context, permits::Service& permits) noexcept;

    // Evens out connections among those that join the same. Before the workers start.
    void join(std::shared_ptr<ConnectionDispatchers> dispatchers);

    // Serves a connection here, or has another worker serve it.
    void take(net::Accepted accepted, const ListenerRole& role) noexcept;

    // From now on no other worker hands a connection here, nor this one any to another. Those on
    // their way have their seats in Context::worker_load.
    void close() noexcept;

  private:
    struct Choice {
        ConnectionDispatcher& there;
        proxy::ConnectionSlot slot;
    };

    [[nodiscard]] Choice choose() noexcept;
    [[nodiscard]] ConnectionDispatcher& least_loaded() noexcept;
    void
    serve(proxy::ConnectionSlot slot, net::Accepted accepted, const ListenerRole& role) noexcept;
    void begin(proxy::ConnectionSlot slot, net::Accepted accepted, const ListenerRole& role);
    void turn_away(net::Socket socket, const ListenerRole& role);

    proxy::Context& context_;
    permits::Service& permits_;
    std::shared_ptr<ConnectionDispatchers> dispatchers_;
    std::size_t own_ = 0; // among them
    bool closed_ = false; // under ConnectionDispatchers::choosing
};

} // namespace stint::runtime
