#include "server/hand_over.hpp"

#include "net/accept.hpp"
#include "net/byte_end.hpp"
#include "net/stream.hpp"
#include "server/http1_connection.hpp"
#include "server/loop.hpp"
#include "server/successor.hpp"
#include "server/tunnel.hpp"

#include <cerrno>
#include <chrono>
#include <exception>
#include <span>
#include <sys/socket.h>
#include <utility>

namespace stint::server {
namespace {

// The former process ends the tunnels that are left when its time is over.
constexpr Duration relay_idle = std::chrono::hours{24};

// True if a lease hangs on the connection.
bool holds_lease(Http1Connection& connection) {
    return connection.session() != nullptr && connection.session()->keeps_open();
}

HandedConnection
described(Http1Connection& connection, std::string received, SteadyTime waiting_since) {
    const ConnectionInfo& info = connection.info();
    return {
        .socket = {},
        .client = connection.peer().address(),
        .received = std::move(received),
        .permits = connection.service().grants_permits(),
        .half_close_allowed = connection.options().half_close_allowed,
        .https_port = info.https_port,
        .secure = info.secure,
        .tls_subject = std::string{info.tls_subject},
        .tls_version = std::string{info.tls_version},
        .last = !stays_open(connection),
        .waiting_since = waiting_since};
}

// Relays the bytes of a client that speaks TLS.
net::Task<> relay(Http1Connection& connection, HandedConnection handed) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        co_return; // no descriptors: the connection closes
    net::Accepted near{Descriptor{ends[0]}, net::unnamed_unix_address()};
    handed.socket = Descriptor{ends[1]};
    const std::string early = std::exchange(handed.received, {});
    Loop& loop = connection.loop();
    ErrorCode failed;
    net::Stream other{net::adopt(loop.executor, std::move(near), failed)};
    if (failed)
        co_return;
    loop.totals.successor->take(std::move(handed));
    net::SocketEnd client{connection.io()};
    Tunnel tunnel{loop, nullptr, client, other, relay_idle};
    net::Block none;
    std::exception_ptr failure;
    try {
        co_await tunnel.run(early, none, 0);
    } catch (...) {
        failure = std::current_exception();
        tunnel.end();
    }
    co_await tunnel.join();
    if (failure)
        std::rethrow_exception(failure);
}

net::Task<> pass_on(Http1Connection& connection, std::string bytes, SteadyTime waiting_since) {
    connection.disarm_discard(); // and whatever else was armed
    const ErrorCode ended = connection.input().error();
    if (ended && ended != net::asio::error::eof)
        co_return;
    HandedConnection handed = described(connection, std::move(bytes), waiting_since);
    if (connection.io().tls() != nullptr)
        co_return co_await relay(connection, std::move(handed));
    connection.loop().clients.forget(connection.io().socket().native_handle());
    handed.socket = net::release(connection.io().socket());
    connection.loop().totals.successor->take(std::move(handed));
}

} // namespace

bool can_be_handed_over(Http1Connection& connection) {
    const bool silent = connection.input().received().empty();
    return !silent || (connection.io().tls() == nullptr && !holds_lease(connection));
}

bool stays_open(Http1Connection& connection) {
    if (connection.options().last_request)
        return false;
    const Loop& loop = connection.loop();
    return !loop.draining || (loop.totals.successor != nullptr &&
                              connection.io().tls() == nullptr && !holds_lease(connection));
}

net::Task<> hand_over(Http1Connection& connection) {
    co_await connection.input().stop();
    const std::span<char> bytes = connection.input().received().bytes();
    co_await pass_on(connection, {bytes.data(), bytes.size()}, connection.info().waiting_since);
}

net::Task<bool>
hand_over(Http1Connection& connection, std::optional<std::string> request, SteadyTime since) {
    if (!request) {
        net::Gather gather;
        gather.add(write_refusal(
            connection.loop(), 503, "the gateway was replaced while the request waited"));
        (void)net::write_now(connection.io(), gather);
        co_return false;
    }
    const SteadyTime before = connection.info().waiting_since;
    co_await pass_on(connection, *std::move(request), before != SteadyTime{} ? before : since);
    co_return true;
}

} // namespace stint::server
