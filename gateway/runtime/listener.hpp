// Accepts connections on one socket of one worker.
#pragma once

#include "net/acceptor.hpp"
#include "net/types.hpp"
#include "proxy/context.hpp"
#include "proxy/downstream.hpp"

#include <boost/asio/steady_timer.hpp>

#include <memory>

namespace stint::runtime {

// Not thread-safe; lives on its worker. close() ends it, the last accept included.
class Listener : public std::enable_shared_from_this<Listener> {
  public:
    Listener(
        proxy::Context& context,
        const net::Endpoint& address,
        net::Descriptor socket,
        proxy::ListenerOptions options);

    void start();
    // Takes all connections that wait to be accepted, at once.
    void take_waiting();
    void close() noexcept;
    // For connections that come from now on.
    void set_options(const proxy::ListenerOptions& options) noexcept { options_ = options; }

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    static net::Task<> accept_all(std::shared_ptr<Listener> self);
    void serve(net::Socket socket, const net::Endpoint& peer);
    void turn_away(net::Socket socket);

    proxy::Context& context_;
    net::Acceptor acceptor_;
    Timer pause_;
    proxy::ListenerOptions options_;
};

} // namespace stint::runtime
