// Accepts connections and assigns them to workers.
#pragma once

#include "base/error.hpp"
#include "net/accept.hpp"
#include "net/acceptor.hpp"
#include "net/types.hpp"
#include "permits/service.hpp"
#include "proxy/context.hpp"
#include "proxy/service.hpp"
#include "server/connection_slot.hpp"
#include "server/settings.hpp"

#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <limits>
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

// Returns the index in `open` of the worker for the next connection. That is `own`, which accepted
// it, unless another worker has a good deal fewer connections.
[[nodiscard]] std::size_t pick_worker(std::span<const std::size_t> open, std::size_t own) noexcept;

class ConnectionDispatcher;

// The dispatchers of all workers.
struct ConnectionDispatchers {
    std::vector<ConnectionDispatcher*> all;
    std::vector<std::size_t> taken; // scratch for choosing: connection slots taken of each
    // Held from the choice of a worker until its connection slot is taken. Otherwise two
    // dispatchers at once would choose the same worker.
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

// A listening socket. Not thread-safe; lives on its worker. close() ends it, the last accept
// included.
class Listener : public std::enable_shared_from_this<Listener> {
  public:
    Listener(
        proxy::Context& context,
        ConnectionDispatcher& dispatcher,
        const net::Endpoint& address,
        Descriptor socket,
        ListenerRole role);

    void start();
    // Accepts waiting connections, all or at most `most`. Returns the error that stopped it,
    // would_block if no connection waits any more.
    ErrorCode take_waiting(std::size_t most = std::numeric_limits<std::size_t>::max());
    void close() noexcept;
    // Sets the role of connections accepted from now on.
    void set_role(const ListenerRole& role) noexcept { role_ = role; }

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    static net::Task<> accept_all(std::shared_ptr<Listener> self);

    proxy::Context& context_;
    ConnectionDispatcher& dispatcher_;
    net::Acceptor acceptor_;
    Timer pause_;
    ListenerRole role_;
};

} // namespace stint::runtime
