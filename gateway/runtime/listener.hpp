// Accepts connections on one socket of one worker.
#pragma once

#include "base/error.hpp"
#include "net/acceptor.hpp"
#include "net/types.hpp"
#include "proxy/context.hpp"
#include "runtime/connection_dispatcher.hpp"

#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <limits>
#include <memory>

namespace stint::runtime {

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
