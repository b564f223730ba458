// The request on its way to the upstream.
#include "http/head_parser.hpp"
#include "net/clock.hpp"
#include "net/send_all.hpp"
#include "proxy/downstream.hpp"
#include "proxy/exchange.hpp"

#include <algorithm>
#include <utility>

namespace stint::proxy {
namespace {

// Methods whose request may be sent a second time (RFC 9110 section 9.2.2).
bool idempotent(std::string_view method) {
    constexpr std::string_view methods[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
    return std::find(std::begin(methods), std::end(methods), method) != std::end(methods);
}

} // namespace

net::Gather Exchange::gather_request(std::string_view head, const http::ChunkHeader& chunk) const {
    net::Gather gather;
    gather.add(head);
    const bool chunked = request_framing_ == BodyFraming::Kind::chunked;
    if (chunked && !buffered_body_.empty())
        gather.add(chunk.view());
    gather.add(buffered_body_);
    if (chunked && !buffered_body_.empty())
        gather.add(http::chunk_end);
    if (chunked && request_body_.done())
        gather.add(http::last_chunk);
    return gather;
}

// The usual case: an idle connection of the endpoint whose turn it is takes head and body in one
// write. False: what is to be sent is in spill_, to go out on lease_ if there is one.
bool Exchange::send_at_once() {
    if (!may_send(decided_.steady))
        return false;
    pool_ = &config_->clusters[route_->upstream].next();
    if (!route_->introduces) [[likely]]
        lease_ = pool_->take_idle();
    const http::ChunkHeader chunk{buffered_body_.size()};
    net::Gather gather = gather_request(context_.head_out.view(), chunk);
    if (lease_) {
        ++upstream_counters().reused;
        const std::size_t whole = gather.bytes();
        const ErrorCode error = net::write_now(lease_.socket(), gather);
        if (!error && gather.empty()) {
            request_was_sent(decided_.steady); // within the same turn
            return true;
        }
        if (error && gather.bytes() < whole) {
            // Closed after it had taken a part: what it says, or does not say, decides.
            arm(Waiting::response, route_->timeouts.response);
            watch_client();
            return true;
        }
        if (error) {
            // Closed between the probe and the write: it has taken nothing.
            lease_ = {};
            retried_ = true;
            ++upstream_counters().retries;
        }
    }
    gather.append_to(spill_);
    return false;
}

net::Task<bool> Exchange::send_slowly() {
    if (!may_send(net::read_steady_clock()))
        co_return false;
    watch_client();
    if (!lease_) {
        const ErrorCode error = co_await connect();
        if (error) {
            if (broken_ == Broken::no) {
                fail(
                    is_shortage(error) ? 503 : 502,
                    "could not connect to " + pool_->endpoint() + ": " + error.message(),
                    observe::Outcome::upstream_failed);
            }
            co_return false;
        }
    }
    if (!may_send(net::read_steady_clock())) // connecting took its time
        co_return false;
    // What comes before there is a request is no answer to it (RFC 9112 section 9.2).
    if (!lease_.reused() && net::probe(lease_.socket()) == net::Silence::bytes_waiting) {
        fail(
            502, pool_->endpoint() + " spoke before it was asked",
            observe::Outcome::upstream_failed);
        co_return false;
    }
    if (route_->introduces) [[unlikely]]
        introduce_client();
    net::Gather gather;
    gather.add(spill_);
    arm(Waiting::upstream, route_->timeouts.body_idle);
    const ErrorCode error = co_await net::send_all(lease_.socket(), gather);
    disarm();
    spill_.clear();
    // An upstream that does not take the whole request may have answered all the same.
    if (error)
        arm(Waiting::response, route_->timeouts.response);
    else
        request_was_sent(net::read_steady_clock());
    co_return broken_ == Broken::no;
}

// A refused connection tries the next endpoint, once; one for which there was no descriptor tries
// again, once, if others could be closed.
net::Task<ErrorCode> Exchange::connect() {
    upstream::Cluster& cluster = config_->clusters[route_->upstream];
    bool made_room = false;
    for (bool last = cluster.size() == 1;; last = true) {
        lease_ = pool_->make_new(context_.executor);
        ++upstream_counters().connects;
        arm(Waiting::connect, route_->timeouts.connect);
        const ErrorCode error = co_await lease_.connect();
        disarm();
        if (!error && broken_ == Broken::no)
            co_return error;
        ++upstream_counters().connect_failures;
        if (is_shortage(error) && broken_ == Broken::no) [[unlikely]] {
            context_.shared.shortage.note(error, net::read_steady_clock());
            if (!std::exchange(made_room, true) && context_.make_room() > 0)
                continue;
        }
        if (last || broken_ != Broken::no || error != net::asio::error::connection_refused)
            co_return error ? error : ErrorCode{net::asio::error::operation_aborted};
        pool_ = &cluster.next();
    }
}

void Exchange::watch_client() {
    if (request_body_.done())
        downstream_.watch();
    else
        downstream_.watch_from_afar();
}

void Exchange::request_was_sent(SteadyTime at) {
    sent_ = at;
    if (!request_body_.done())
        return begin_pump();
    arm(Waiting::response, route_->timeouts.response);
    downstream_.watch();
}

bool Exchange::may_retry() const noexcept {
    return lease_.reused() && !retried_ && !pumped_ && filled_ == 0 && interims_ == 0 &&
           idempotent(method_);
}

} // namespace stint::proxy
