#include "server/connection_entry.hpp"

#include "http/proxy_protocol.hpp"
#include "net/io.hpp"
#include "server/http1_connection.hpp"
#include "tls/server.hpp"

#include <spdlog/spdlog.h>

#include <string>
#include <string_view>

namespace stint::server {
namespace {

// The first bytes of an HTTP/2 connection (RFC 9113 section 3.4).
constexpr std::string_view http2_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Receives the PROXY header. Returns false if the connection must not be served.
net::Task<bool> receive_proxy_header(Http1Connection& connection) {
    using Status = http::ProxyHeader::Status;
    observe::WorkerCounters& counters = connection.loop().counters;
    const routing::TrustedProxies* const trusted = connection.settings().trusted;
    if (trusted == nullptr || !trusted->contains(connection.peer().address())) {
        ++counters.proxy_untrusted;
        co_return false;
    }
    http::ProxyHeader header;
    bool more = true;
    while (more && header.status == Status::incomplete) {
        more = co_await connection.receive_more();
        const std::span<char> bytes = connection.input().received().bytes();
        if (more)
            header = http::parse_proxy_header({bytes.data(), bytes.size()});
    }
    const bool ended = connection.input().error().failed() || connection.timed_out();
    if (header.status == Status::malformed || (header.status == Status::incomplete && !ended)) {
        ++counters.proxy_malformed;
        co_return false;
    }
    if (header.status == Status::incomplete)
        co_return false;
    if (header.status == Status::address)
        connection.peer() = routing::ClientAddress{header.source, connection.loop().totals.hasher};
    connection.input().received().consume(header.size);
    co_return true;
}

// Acquires a connection slot of the client. Returns false if the client has as many connections as
// it may have; with `even_above` it gets another one.
bool acquire_client_slot(Http1Connection& connection, bool even_above = false) {
    const ConnectionSettings& settings = connection.settings();
    const std::size_t most = settings.max_connections_per_client;
    const IpAddress& client = connection.peer().address();
    // A trusted proxy has many clients behind it, and the peer of a Unix socket no address.
    if (most == 0 || client.empty() ||
        (settings.trusted != nullptr && settings.trusted->contains(client)))
        return true;
    const IpAddress network = settings.prefixes.network_of(client).address;
    Totals& totals = connection.loop().totals;
    ClientConnections::Slot slot = totals.clients.enter(
        totals.hasher(network.bytes()), even_above ? ConnectionSettings::unlimited : most);
    const bool acquired = static_cast<bool>(slot);
    connection.hold(std::move(slot));
    return acquired;
}

// Sends a refusal with one write. Returns true if all of it was sent.
bool refuse(Http1Connection& connection, int status, std::string_view detail) {
    net::Gather gather;
    gather.add(write_refusal(connection.loop(), status, detail));
    return !net::write_now(connection.io(), gather);
}

// Refuses a connection: closes it at once if its listener speaks TLS, else sends a 429. After the
// 429 the connection lingers, unless 90 % of max_connections are open.
Entry turn_away(Http1Connection& connection) {
    ++connection.loop().counters.rejected_per_client;
    if (connection.options().tls)
        return Entry::closed; // a handshake only to say no would cost more than the request
    const bool sent = refuse(connection, 429, "max_connections_per_client is reached");
    const std::size_t open = connection.loop().totals.connections.load(std::memory_order_relaxed);
    const bool room = open * 10 < connection.settings().max_connections * 9;
    return sent && room ? Entry::refused : Entry::closed;
}

// Answers plain HTTP on a TLS listener once: the client learns why, rather than being hung up on.
Entry answer_plain_http(Http1Connection& connection) {
    ++connection.loop().counters.tls_plain_http;
    connection.io().forget_tls();
    return refuse(connection, 400, "this listener speaks TLS: use https") ? Entry::refused
                                                                          : Entry::closed;
}

net::Task<Entry> shake_hands(Http1Connection& connection) {
    net::Stream& io = connection.io();
    // Bytes received after a PROXY header belong to TLS.
    io.begin_tls(connection.options().tls->accept(), connection.input().received().bytes());
    connection.input().received().clear();
    const ErrorCode error = co_await net::handshake(io);
    observe::WorkerCounters& counters = connection.loop().counters;
    if (!error) {
        ++counters.tls_handshakes;
        counters.tls_resumed += io.tls()->resumed() ? 1 : 0;
        co_return Entry::served;
    }
    const bool plain_http = io.tls()->met_plain_http();
    // No co_await since the handshake: OpenSSL's error queue belongs to the thread, not the
    // connection.
    const std::string reason = tls::reason_of_failure(io.tls()->ssl(), "");
    spdlog::debug("a TLS handshake with {} failed: {}", connection.peer().text(), reason);
    ++counters.tls_failures;
    co_return plain_http ? answer_plain_http(connection) : Entry::closed;
}

} // namespace

net::Task<Entry> enter(Http1Connection& connection) {
    if (connection.options().proxy_protocol) [[unlikely]] {
        const bool received = co_await receive_proxy_header(connection);
        if (!received)
            co_return Entry::closed;
    }
    if (!acquire_client_slot(connection)) [[unlikely]]
        co_return turn_away(connection);
    if (!connection.options().tls) [[likely]]
        co_return Entry::served;
    const Entry entry = co_await shake_hands(connection);
    co_return entry;
}

void enter_again(Http1Connection& connection) {
    (void)acquire_client_slot(connection, true);
}

net::Task<bool> speaks_http2(Http1Connection& connection) {
    if (net::TlsSession* const tls = connection.io().tls())
        co_return tls->chose_http2();
    if (!connection.options().http2_prior_knowledge) [[likely]]
        co_return false;
    for (;;) {
        const std::span<char> bytes = connection.input().received().bytes();
        const std::string_view begun =
            std::string_view{bytes.data(), bytes.size()}.substr(0, http2_preface.size());
        if (!http2_preface.starts_with(begun) || begun.size() == http2_preface.size())
            co_return begun.size() == http2_preface.size() && begun == http2_preface;
        const bool more = co_await connection.receive_more();
        if (!more)
            co_return false;
    }
}

} // namespace stint::server
