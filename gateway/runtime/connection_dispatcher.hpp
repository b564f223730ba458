// Assigns accepted connections to workers.
#pragma once

#include "net/accept.hpp"
#include "permits/service.hpp"
#include "proxy/context.hpp"
#include "proxy/service.hpp"
#include "server/connection_slot.hpp"
#include "server/settings.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace stint::runtime {

// The role of a listener: requests to forward, or permit requests.
struct ListenerRole {
    server::ListenerOptions options;
    bool permits = false;
};

// Returns the index in `open` of the worker for the next connection, which worker `own` accepted:
// another one only if it has a good deal fewer.
[[nodiscard]] std::size_t pick_worker(std::span<const std::size_t> open, std::size_t own) noexcept;

class ConnectionDispatcher;

// The dispatchers of all workers.
struct ConnectionDispatchers {
    std::vector<ConnectionDispatcher*> all;
    std::vector<std::size_t> taken; // scratch for choosing: connection slots taken of each
    // Held while choosing a worker, until its connection slot is taken: two at once would choose
    // the same worker.
    std::mutex choosing;
};

// One worker's dispatcher. The kernel spreads connections over the workers' sockets by a hash of
// their addresses, so a few long-lived connections may all reach one worker; the others then take
// some over. Outlives the threads of all workers. Used on its own worker's thread, except as noted.
class ConnectionDispatcher {
  public:
    ConnectionDispatcher(
        proxy::Context& context, proxy::Service& proxied, permits::Service& permits) noexcept;

    // Balances connections among the dispatchers that join the same list. Call it before the
    // workers start.
    void join(std::shared_ptr<ConnectionDispatchers> dispatchers);

    // Serves a connection on this worker, or hands it to another one.
    void take(net::Accepted accepted, const ListenerRole& role) noexcept;

    // Stops handing connections to and from this worker. Those already on their way hold their
    // slots in Context::worker_load.
    void close() noexcept;

  private:
    struct Choice {
        ConnectionDispatcher& there;
        server::ConnectionSlot slot;
    };

    [[nodiscard]] Choice choose() noexcept;
    [[nodiscard]] ConnectionDispatcher& least_loaded() noexcept;
    void
    serve(server::ConnectionSlot slot, net::Accepted accepted, const ListenerRole& role) noexcept;
    void begin(server::ConnectionSlot slot, net::Accepted accepted, const ListenerRole& role);
    void turn_away(net::Socket socket, const ListenerRole& role);

    proxy::Context& context_;
    proxy::Service& proxied_;
    permits::Service& permits_;
    std::shared_ptr<ConnectionDispatchers> dispatchers_;
    std::size_t own_ = 0; // index among them
    bool closed_ = false; // under ConnectionDispatchers::choosing
};

} // namespace stint::runtime
