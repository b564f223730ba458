#include "runtime/listener.hpp"

#include "http/local_reply.hpp"
#include "net/accept.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"
#include "proxy/downstream.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>
#include <utility>

namespace stint::runtime {
namespace {

// Without descriptors or memory, accepting again at once would only spin.
constexpr std::chrono::milliseconds pause_after_error{100};

// Few enough that those who are connected have their turn: what a connection begins with, its part
// of a TLS handshake included, is done within.
constexpr std::size_t accepted_at_once = 8;

} // namespace

Listener::Listener(
    proxy::Context& context,
    permits::Service& permits,
    const net::Endpoint& address,
    net::Descriptor socket,
    ListenerRole role)
    : context_{context}, permits_{permits}, acceptor_{context.executor}, pause_{context.executor},
      role_{std::move(role)} {
    acceptor_.assign(address.protocol(), socket.release());
}

void Listener::start() {
    net::spawn(context_.executor, accept_all(shared_from_this()));
}

ErrorCode Listener::take_waiting(std::size_t most) {
    ErrorCode error;
    net::Endpoint peer;
    for (std::size_t taken = 0; !error && taken < most; ++taken) {
        net::Socket socket = net::accept_now(acceptor_, peer, error);
        if (!error)
            serve(std::move(socket), peer);
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
        if (proxy::is_shortage(error))
            self->context_.shared.shortage.note(error, net::read_steady_clock());
        self->pause_.expires_after(pause_after_error);
        co_await self->pause_.async_wait(net::as_result);
    }
}

void Listener::serve(net::Socket socket, const net::Endpoint& peer) {
    ++context_.counters.connections_accepted;
    try {
        if (context_.shared.connections.load(std::memory_order_relaxed) >=
            context_.active->snapshot->max_connections)
            return turn_away(std::move(socket));
        if (role_.permits)
            return permits_.serve(std::move(socket), peer);
        auto downstream =
            std::make_unique<proxy::Downstream>(context_, std::move(socket), peer, role_.proxied);
        net::spawn(context_.executor, proxy::Downstream::serve(std::move(downstream)));
    } catch (const std::exception& failure) {
        if (context_.shared.failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a connection could not be served: {}", failure.what());
        ++context_.counters.connections_rejected;
    }
}

void Listener::turn_away(net::Socket socket) {
    ++context_.counters.connections_rejected;
    if (role_.proxied.tls)
        return; // nothing could be said without a handshake
    http::HeadBuffer& answer = context_.head_out;
    answer.clear();
    http::write_turned_away(
        answer, context_.dates.format(net::read_clocks().wall), 503, "max_connections is reached");
    net::Gather gather;
    gather.add(answer.view());
    (void)net::write_now(socket, gather); // as much as goes; there is nobody to wait for it
}

} // namespace stint::runtime
