// The request on its way to the upstream.
#include "net/clock.hpp"
#include "net/stream.hpp"
#include "proxy/exchange.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace stint::proxy {

net::Gather Exchange::gather_request(std::string_view head, const http::ChunkHeader& chunk) const {
    net::Gather gather;
    gather.add(head);
    if (!pending_request_.empty()) [[unlikely]] {
        gather.add(pending_request_.body());
        return gather;
    }
    const bool chunked = stream_.head().framing.kind == BodyFraming::Kind::chunked;
    const std::string_view body = stream_.buffered_body();
    if (chunked && !body.empty())
        gather.add(chunk.view());
    gather.add(body);
    if (chunked && !body.empty())
        gather.add(http::chunk_end);
    if (chunked && stream_.body_done())
        gather.add(http::last_chunk);
    return gather;
}

// Sends head and body in one write on an idle connection of the chosen endpoint: the usual case.
// False: bytes to send are in pending_request_, to go out on lease_ if there is one.
bool Exchange::send_at_once() {
    if (!may_send(admission_.decided().steady))
        return false;
    if (endpoint_ == nullptr && !take_first_endpoint()) [[unlikely]]
        return false;
    if (!route().sends_proxy_protocol) [[likely]]
        lease_ = pool_->take_idle();
    const http::ChunkHeader chunk{stream_.buffered_body().size()};
    if (!lease_) {
        hold_request(chunk, {}, 0);
        return false;
    }
    net::Gather gather = gather_request(context_.head_out.view(), chunk);
    net::Block block;
    std::string_view ahead;
    if (!stream_.body_done())
        gather.add(ahead = read_ahead(block));
    ++upstream_counters().reused;
    const std::size_t whole = gather.bytes();
    const ErrorCode error = net::write_now(lease_.stream(), gather);
    if (!error && gather.empty()) [[likely]] {
        upstream_input_ = net::Input::none_yet; // take_idle() has looked, within the same turn
        pending_request_.clear();
        request_was_sent(admission_.decided().steady);
        return true;
    }
    hold_request(chunk, ahead, whole - gather.bytes());
    if (pending_request_.begun()) {
        first_part_was_sent(error, admission_.decided().steady);
        return true;
    }
    if (error)
        replace_idle_connection();
    return false;
}

// Keeps the first write for as long as it may be needed. taken: its bytes that a socket has taken.
void Exchange::hold_request(
    const http::ChunkHeader& chunk, std::string_view ahead, std::size_t taken) {
    const std::string_view head = context_.head_out.view();
    net::Gather gather = gather_request(head, chunk);
    gather.add(ahead);
    std::string bytes;
    bytes.reserve(gather.bytes());
    gather.append_to(bytes);
    pending_request_.assign(std::move(bytes), head.size(), taken);
}

// Drops an idle connection that was closed between the probe and the write. It has taken no byte of
// the request, so that any request may go on another connection.
void Exchange::replace_idle_connection() noexcept {
    lease_ = {};
    attempts_.renewed = true;
    ++upstream_counters().retries;
}

net::Task<bool> Exchange::send_slowly() {
    if (!may_send(net::read_steady_clock()))
        co_return false;
    stream_.watch();
    for (;;) {
        const bool ready = co_await have_connection();
        if (!ready)
            co_return false;
        net::Gather gather;
        gather.add(pending_request_.rest());
        const ErrorCode error = net::write_now(lease_.stream(), gather);
        pending_request_.take(pending_request_.rest().size() - gather.bytes());
        if (error && !pending_request_.begun() && lease_.reused()) {
            replace_idle_connection();
            continue;
        }
        const SteadyTime now = net::read_steady_clock();
        if (!error && gather.empty()) {
            pending_request_.clear();
            request_was_sent(now);
        } else {
            first_part_was_sent(error, now);
        }
        co_return abort_reason_ == AbortReason::no;
    }
}

// Provides a connection that takes the request, once it may be sent. False: it must not be sent.
net::Task<bool> Exchange::have_connection() {
    if (lease_)
        co_return true;
    const upstream::Lease::Connected connected = co_await connect();
    if (connected.error) {
        explain_connect(connected);
        co_return false;
    }
    if (!may_send(net::read_steady_clock())) // connecting took its time
        co_return false;
    // Bytes that come before there is a request are no answer to it (RFC 9112 section 9.2).
    if (!lease_.reused() && net::probe(lease_.stream()) == net::SocketState::bytes_waiting) {
        fail(
            502, pool_->endpoint() + " spoke before it was asked",
            observe::Outcome::upstream_failed);
        co_return false;
    }
    co_return true;
}

// Takes an idle connection of another endpoint, for a retry. After a dead one, a new one is made.
bool Exchange::take_idle_again() {
    if (attempts_.made == 1 || attempts_.renewed || route().sends_proxy_protocol)
        return false;
    lease_ = pool_->take_idle();
    if (lease_)
        ++upstream_counters().reused;
    return static_cast<bool>(lease_);
}

// Connects. Retries once if there was no descriptor for it and others could be closed.
net::Task<upstream::Lease::Connected> Exchange::connect() {
    bool made_room = false;
    const std::string first =
        route().sends_proxy_protocol ? proxy_protocol_header() : std::string{};
    for (;;) {
        if (take_idle_again()) [[unlikely]]
            co_return upstream::Lease::Connected{};
        lease_ = pool_->make_new(context_.executor);
        ++upstream_counters().connects;
        arm(Waiting::connect, route().timeouts.connect);
        upstream::Lease::Connected connected = co_await lease_.connect(first);
        const ErrorCode error = connected.error;
        disarm();
        if (!error && abort_reason_ == AbortReason::no)
            co_return connected;
        ++upstream_counters().connect_failures;
        if (server::is_resource_exhaustion(error) && abort_reason_ == AbortReason::no)
            [[unlikely]] {
            context_.shared().resource_exhaustion.note(error, net::read_steady_clock());
            if (!std::exchange(made_room, true) && context_.close_idle_connections() > 0)
                continue;
        }
        if (!error)
            connected.error = net::asio::error::operation_aborted;
        if (!should_retry_connect(connected))
            co_return connected;
        if (stream_.head().authority.empty()) [[unlikely]] { // Host is the endpoint's own name
            name_endpoint();
            hold_request(http::ChunkHeader{stream_.buffered_body().size()}, {}, 0);
        }
    }
}

void Exchange::explain_connect(const upstream::Lease::Connected& connected) {
    const std::string& endpoint = pool_->endpoint();
    if (abort_reason_ == AbortReason::connect_timeout && connected.in_handshake)
        abort_reason_ = AbortReason::handshake_timeout;
    if (abort_reason_ != AbortReason::no)
        return;
    attempts_.outcome_reported =
        attempts_.outcome_reported ||
        server::is_resource_exhaustion(connected.error); // the gateway's own
    const std::string what = connected.in_handshake ? "TLS with " + endpoint + " failed: "
                                                    : "could not connect to " + endpoint + ": ";
    const std::string why = connected.reason.empty() ? connected.error.message() : connected.reason;
    fail(
        server::is_resource_exhaustion(connected.error) ? 503 : 502, what + why,
        observe::Outcome::upstream_failed);
}

// Notes that all of the request that was at hand has been sent.
void Exchange::request_was_sent(SteadyTime at) {
    sent_ = at;
    if (!stream_.body_done())
        return begin_pump();
    request_sent_ = true;
    arm(Waiting::response, route().timeouts.response);
    stream_.watch();
}

// Notes a partial send. The upstream may answer before it has the rest (RFC 9112 section 9.5): the
// answer is awaited while the pump sends on. After an error, an answer sent before decides.
void Exchange::first_part_was_sent(const ErrorCode& error, SteadyTime at) {
    sent_ = at;
    stream_.watch();
    if (error)
        arm(Waiting::response, route().timeouts.response);
    else
        begin_pump();
}

} // namespace stint::proxy
