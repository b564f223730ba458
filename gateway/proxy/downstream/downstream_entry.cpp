// Entry of a new connection: PROXY header, connection slot and TLS, before its first request.
#include "http/local_reply.hpp"
#include "http/proxy_protocol.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"
#include "proxy/downstream/downstream.hpp"
#include "tls/server.hpp"

#include <spdlog/spdlog.h>

namespace stint::proxy {

// Reads the PROXY header, within the time for the first head. False: the connection is not served.
net::Task<bool> Downstream::receive_proxy_header() {
    using Status = http::ProxyHeader::Status;
    if (!context_.active->snapshot->trusted.contains(peer_.address())) {
        ++context_.counters.proxy_untrusted;
        co_return false;
    }
    http::ProxyHeader header;
    while (header.status == Status::incomplete && read_on()) {
        co_await input_.wait();
        header = http::parse_proxy_header({block_.data() + begin_, end_ - begin_});
    }
    const bool ended = input_error_ || timed_out_;
    if (header.status == Status::malformed || (header.status == Status::incomplete && !ended)) {
        ++context_.counters.proxy_malformed;
        co_return false;
    }
    if (header.status == Status::incomplete)
        co_return false;
    if (header.status == Status::address)
        peer_ = routing::ClientAddress{header.source, context_.shared.hasher};
    begin_ += header.size;
    scanned_ = begin_;
    head_begun_ = {};
    co_return true;
}

// Acquires a connection slot of the client. False: it has all that it may have.
bool Downstream::acquire_client_slot() {
    const routing::Snapshot& snapshot = *context_.active->snapshot;
    const std::size_t most = snapshot.max_connections_per_client;
    const IpAddress& client = peer_.address();
    // A trusted proxy has many clients behind it, and the peer of a Unix socket no address.
    if (most == 0 || client.empty() || snapshot.trusted.contains(client))
        return true;
    const IpAddress network = snapshot.prefixes.network_of(client).address;
    client_slot_ = context_.shared.clients.enter(context_.shared.hasher(network.bytes()), most);
    return static_cast<bool>(client_slot_);
}

// Refuses the connection with one write. It lingers then, as the client may be sending its request;
// but not where lingering ones would take the gateway's last connections.
void Downstream::turn_away() {
    ++context_.counters.rejected_per_client;
    if (options_.tls)
        return; // a handshake only to say no would cost more than the request
    net::Gather gather;
    gather.add(write_refusal(context_, 429, "max_connections_per_client is reached"));
    const bool sent = !net::write_now(stream_, gather);
    const std::size_t open = context_.shared.connections.load(std::memory_order_relaxed);
    if (sent && open * 10 < context_.active->snapshot->max_connections * 9)
        lingers_ = Lingers::briefly;
}

// Runs the TLS handshake, within the time for the first head. False: the connection is not served.
net::Task<bool> Downstream::shake_hands() {
    stream_.begin_tls(options_.tls->accept(), received()); // bytes behind a PROXY header
    begin_ = end_ = scanned_ = 0;
    const ErrorCode error = co_await net::handshake(stream_);
    observe::WorkerCounters& counters = context_.counters;
    if (!error) {
        ++counters.tls_handshakes;
        counters.tls_resumed += stream_.tls()->resumed() ? 1 : 0;
        co_return true;
    }
    const bool plain_http = stream_.tls()->met_plain_http();
    // No suspension since: the error queue is the thread's.
    const std::string reason = tls::reason_of_failure(stream_.tls()->ssl(), "");
    spdlog::debug("a TLS handshake with {} failed: {}", peer_.text(), reason);
    ++counters.tls_failures;
    if (plain_http)
        answer_plain_http();
    co_return false;
}

// Answers plain HTTP on a TLS listener once: the client learns why, rather than being hung up on.
void Downstream::answer_plain_http() {
    ++context_.counters.tls_plain_http;
    stream_.forget_tls();
    net::Gather gather;
    gather.add(write_refusal(context_, 400, "this listener speaks TLS: use https"));
    lingers_ = net::write_now(stream_, gather) ? Lingers::no : Lingers::briefly;
}

} // namespace stint::proxy
