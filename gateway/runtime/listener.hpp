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
#include "server/successor.hpp"

#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace stint::runtime {

// The role of a listener. permits: serves the permit API; otherwise proxies requests.
struct ListenerRole {
    server::ListenerOptions options;
    bool permits = false;
};

// Returns the index of the worker for a new connection. open: the number of connections of each
// worker. own: the worker that accepted the connection. Returns `own` unless it has over 25 % more
// connections than the least loaded worker.
[[nodiscard]] std::size_t pick_worker(std::span<const std::size_t> open, std::size_t own) noexcept;

class ConnectionDispatcher;

// The dispatchers of all workers.
struct ConnectionDispatchers {
    std::vector<ConnectionDispatcher*> all;
    std::vector<std::size_t> taken; // scratch buffer for least_loaded(): connections of each worker
    // Held while a dispatcher chooses a worker and takes a connection slot of that worker.
    // Otherwise two dispatchers at once would choose the same worker.
    std::mutex choosing;
};

// One worker's dispatcher. The kernel spreads connections over the workers' sockets by a hash of
// their addresses, so a few long-lived connections may all reach one worker. The dispatcher then
// hands some of them to less loaded workers. Must outlive the threads of all workers. Used on its
// own worker's thread.
class ConnectionDispatcher {
  public:
    ConnectionDispatcher(
        proxy::Context& context, proxy::Service& proxied, permits::Service& permits) noexcept;

    // Balances connections among the dispatchers that join the same list. Call it before the
    // workers start.
    void join(std::shared_ptr<ConnectionDispatchers> dispatchers);

    // Serves a connection on this worker, or hands it to another one.
    void take(net::Accepted accepted, const ListenerRole& role) noexcept;

    // Serves a connection of the process that this one has replaced, on this worker.
    void go_on_with(server::HandedConnection handed) noexcept;

    // Stops handing connections to and from this worker. Connections already posted to this worker
    // hold slots in Context::worker_load, so a drain waits for them.
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
    std::size_t own_ = 0; // index of this object in ConnectionDispatchers::all
    bool closed_ = false; // guarded by ConnectionDispatchers::choosing
};

// A listening socket of one worker. Used on that worker's thread only. close() also ends a pending
// wait for connections.
class Listener : public std::enable_shared_from_this<Listener> {
  public:
    Listener(
        proxy::Context& context,
        ConnectionDispatcher& dispatcher,
        const net::Endpoint& address,
        Descriptor socket,
        ListenerRole role);

    void start();
    // Accepts at most `most` waiting connections. Returns the error that stopped the loop:
    // would_block if no connection is waiting any more, no error after `most` connections.
    ErrorCode take_waiting(std::size_t most = std::numeric_limits<std::size_t>::max());
    void close() noexcept;
    // Returns a copy of the listening socket; none without descriptors.
    [[nodiscard]] Descriptor copy_socket();
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
