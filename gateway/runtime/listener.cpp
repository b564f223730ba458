#include "runtime/listener.hpp"

#include "net/accept.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"

#include <chrono>
#include <utility>

namespace stint::runtime {
namespace {

// Without descriptors or memory, accepting again at once would only spin.
constexpr std::chrono::milliseconds pause_after_error{100};

// Bounded so that accepting does not starve open connections: each accept includes a connection's
// first work, its part of a TLS handshake included.
constexpr std::size_t accepted_at_once = 8;

} // namespace

Listener::Listener(
    proxy::Context& context,
    ConnectionDispatcher& dispatcher,
    const net::Endpoint& address,
    Descriptor socket,
    ListenerRole role)
    : context_{context}, dispatcher_{dispatcher}, acceptor_{context.executor},
      pause_{context.executor}, role_{std::move(role)} {
    acceptor_.assign(address.protocol(), socket.release());
}

void Listener::start() {
    net::spawn(context_.executor, accept_all(shared_from_this()));
}

ErrorCode Listener::take_waiting(std::size_t most) {
    ErrorCode error;
    for (std::size_t taken = 0; !error && taken < most; ++taken) {
        net::Accepted accepted = net::accept_now(acceptor_, error);
        if (!error)
            dispatcher_.take(std::move(accepted), role_);
    }
    return error;
}

void Listener::close() noexcept {
    ErrorCode ignored;
    acceptor_.close(ignored);
    pause_.cancel();
}

net::Task<> Listener::accept_all(std::shared_ptr<Listener> self) {
    while (self->acceptor_.is_open()) {
        auto [failed] =
            co_await self->acceptor_.async_wait(net::Acceptor::wait_read, net::as_result);
        if (failed || !self->acceptor_.is_open())
            co_return;
        const ErrorCode error = self->take_waiting(accepted_at_once);
        if (!error || error == net::asio::error::would_block)
            continue;
        ++self->context_.counters.accept_errors;
        if (error == boost::system::errc::connection_aborted)
            continue; // that client left before it was its turn
        if (server::is_resource_exhaustion(error))
            self->context_.shared().resource_exhaustion.note(error, net::read_steady_clock());
        self->pause_.expires_after(pause_after_error);
        co_await self->pause_.async_wait(net::as_result);
    }
}

} // namespace stint::runtime
