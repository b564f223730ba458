#include "runtime/listener.hpp"

#include "http/local_reply.hpp"
#include "net/accept.hpp"
#include "net/address.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"
#include "server/http1_connection.hpp"

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <utility>

namespace stint::runtime {
namespace {

// Delay after a failed accept: without free file descriptors or memory, an immediate retry would
// spin.
constexpr std::chrono::milliseconds pause_after_error{100};

// Connections accepted in one go. Bounded so that a burst of new connections, whose TLS handshakes
// begin at once, does not starve open connections.
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

Descriptor Listener::copy_socket() {
    return Descriptor{::fcntl(acceptor_.native_handle(), F_DUPFD_CLOEXEC, 0)};
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
            continue; // the client closed the connection before it was accepted
        if (server::is_resource_exhaustion(error))
            self->context_.shared().resource_exhaustion.note(error, net::read_steady_clock());
        self->pause_.expires_after(pause_after_error);
        co_await self->pause_.async_wait(net::as_result);
    }
}

// The margin is a quarter of the lowest load, so loads are equalised exactly while the lowest is
// below 4 connections. With many connections the kernel's hash balances well enough, and moving a
// connection costs a system call.
std::size_t pick_worker(std::span<const std::size_t> open, std::size_t own) noexcept {
    const auto fewest = std::ranges::min_element(open);
    const bool leaves = open[own] > *fewest + *fewest / 4;
    return leaves ? static_cast<std::size_t>(fewest - open.begin()) : own;
}

ConnectionDispatcher::ConnectionDispatcher(
    proxy::Context& context, proxy::Service& proxied, permits::Service& permits) noexcept
    : context_{context}, proxied_{proxied}, permits_{permits} {}

void ConnectionDispatcher::join(std::shared_ptr<ConnectionDispatchers> dispatchers) {
    dispatchers_ = std::move(dispatchers);
    own_ = dispatchers_->all.size();
    dispatchers_->all.push_back(this);
    dispatchers_->taken.push_back(0);
}

void ConnectionDispatcher::close() noexcept {
    if (!dispatchers_)
        return;
    const std::scoped_lock lock{dispatchers_->choosing};
    closed_ = true;
}

void ConnectionDispatcher::take(net::Accepted accepted, const ListenerRole& role) noexcept {
    ++context_.counters.connections_accepted;
    Choice choice = choose();
    if (&choice.there == this)
        return serve(std::move(choice.slot), std::move(accepted), role);
    try {
        net::asio::post(
            choice.there.context_.executor,
            [&there = choice.there, role, slot = std::move(choice.slot),
             accepted = std::move(accepted)]() mutable {
                there.serve(std::move(slot), std::move(accepted), role);
            });
    } catch (const std::exception&) { // out of memory: the connection is closed
        ++context_.counters.connections_rejected;
    }
}

ConnectionDispatcher::Choice ConnectionDispatcher::choose() noexcept {
    if (!dispatchers_ || dispatchers_->all.size() < 2)
        return {*this, server::acquire_connection_slot(context_.worker_load)};
    const std::scoped_lock lock{dispatchers_->choosing};
    ConnectionDispatcher& there = closed_ ? *this : least_loaded();
    return {there, server::acquire_connection_slot(there.context_.worker_load)};
}

ConnectionDispatcher& ConnectionDispatcher::least_loaded() noexcept {
    auto& [all, taken, choosing] = *dispatchers_;
    std::ranges::transform(all, taken.begin(), [](const ConnectionDispatcher* each) {
        return each->closed_ ? std::numeric_limits<std::size_t>::max()
                             : each->context_.worker_load.load(std::memory_order_relaxed);
    });
    return *all[pick_worker(taken, own_)];
}

void ConnectionDispatcher::serve(
    server::ConnectionSlot slot, net::Accepted accepted, const ListenerRole& role) noexcept {
    try {
        begin(std::move(slot), std::move(accepted), role);
    } catch (const std::exception& failure) {
        if (context_.shared().failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a connection could not be served: {}", failure.what());
        ++context_.counters.connections_rejected;
    }
}

void ConnectionDispatcher::begin(
    server::ConnectionSlot slot, net::Accepted accepted, const ListenerRole& role) {
    const net::Endpoint peer = accepted.peer;
    ErrorCode failed;
    net::Socket socket = net::adopt(context_.executor, std::move(accepted), failed);
    if (failed)
        throw boost::system::system_error{failed};
    const bool full = context_.shared().connections.load(std::memory_order_relaxed) >=
                      context_.active->snapshot->load.max_connections;
    if (full && !context_.shed_lingering())
        return turn_away(std::move(socket), role);
    server::Service& service = role.permits ? static_cast<server::Service&>(permits_) : proxied_;
    auto connection = std::make_unique<server::Http1Connection>(
        context_, service, std::move(slot), std::move(socket), net::ip_address_of(peer),
        role.options);
    net::spawn(context_.executor, server::Http1Connection::serve(std::move(connection)));
}

void ConnectionDispatcher::go_on_with(server::HandedConnection handed) noexcept try {
    server::ConnectionSlot slot = server::acquire_connection_slot(context_.worker_load);
    ErrorCode failed;
    net::Socket socket =
        net::adopt_copied(context_.executor, net::connected(std::move(handed.socket)), failed);
    if (failed)
        throw boost::system::system_error{failed};
    server::Service& service = handed.permits ? static_cast<server::Service&>(permits_) : proxied_;
    auto connection = std::make_unique<server::Http1Connection>(
        context_, service, std::move(slot), std::move(socket), handed.client,
        server::ListenerOptions{
            .half_close_allowed = handed.half_close_allowed,
            .https_port = handed.https_port,
            .last_request = handed.last});
    connection->continue_from(std::move(handed));
    net::spawn(context_.executor, server::Http1Connection::serve(std::move(connection)));
} catch (const std::exception& failure) {
    spdlog::error("a connection of the former process could not be served: {}", failure.what());
    ++context_.counters.connections_rejected;
}

void ConnectionDispatcher::turn_away(net::Socket socket, const ListenerRole& role) {
    ++context_.counters.connections_rejected;
    if (role.options.tls)
        return; // an HTTP response would need a TLS handshake first
    net::Gather gather;
    gather.add(server::write_refusal(context_, 503, "max_connections is reached"));
    (void)net::write_now(socket, gather); // drops bytes that the socket buffer cannot take
}

} // namespace stint::runtime
