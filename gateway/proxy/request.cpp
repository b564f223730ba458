// The request on its way to the upstream.
#include "http/head_parser.hpp"
#include "net/clock.hpp"
#include "proxy/downstream.hpp"
#include "proxy/exchange.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace stint::proxy {
namespace {

// Methods whose request may be sent a second time (RFC 9110 section 9.2.2).
bool idempotent(std::string_view method) {
    constexpr std::string_view methods[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
    return std::find(std::begin(methods), std::end(methods), method) != std::end(methods);
}

// Waits until everything is sent, or the socket fails or is closed.
net::Task<ErrorCode> send_all(net::Socket& socket, net::Gather gather) {
    ErrorCode error = net::write_now(socket, gather);
    while (!error && !gather.empty()) {
        auto [failed] = co_await net::wait_writable(socket);
        error = failed ? failed : net::write_now(socket, gather);
    }
    co_return error;
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
    net::Gather gather;
    gather.add(spill_);
    arm(Waiting::upstream, route_->timeouts.body_idle);
    const ErrorCode error = co_await send_all(lease_.socket(), gather);
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

void Exchange::begin_pump() {
    if (expects_continue_ && buffered_body_.empty()) {
        net::Gather gather;
        gather.add("HTTP/1.1 100 Continue\r\n\r\n");
        bytes_out_ += gather.bytes();
        if (net::write_now(downstream_.socket(), gather))
            return break_off(Broken::client_gone);
        gather.append_to(unsent_);
    }
    forget_buffered_body();
    pumping_ = pumped_ = true;
    try {
        net::spawn(context_.executor, pump(*this));
    } catch (...) {
        pumping_ = false; // nobody would say that it has ended
        throw;
    }
}

// It will not be needed again; without room behind the head a chunked body would be read a byte at
// a time.
void Exchange::forget_buffered_body() noexcept {
    downstream_.drop_behind(head_.size());
    consumed_ = head_.size();
    buffered_body_ = {};
}

// Runs beside the wait for the answer, which may come before the body's end.
net::Task<> Exchange::pump(Exchange& self) {
    try {
        net::Block block = self.context_.body_blocks.borrow();
        std::string_view payload;
        SendingRate rate;
        bool more = true;
        while (more && !self.request_body_.done()) {
            rate.wait(net::read_coarse_clock());
            more = co_await self.read_body(block, self.route_->timeouts.body_idle, payload);
            rate.arrive(net::read_coarse_clock(), payload.size());
            more = more && self.keeps_up(rate);
            if (more)
                more = co_await self.forward_body(payload);
        }
    } catch (const std::exception& failure) {
        if (self.context_.shared.failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a request's body could not be relayed: {}", failure.what());
        self.break_off(Broken::client_stalled);
    }
    self.end_pump();
}

// A client below min_rate is one that has stalled.
bool Exchange::keeps_up(const SendingRate& rate) {
    // An answer that came before the body's end goes its way, as in on_client_stalled().
    if (request_body_.done() || head_sent_ || !rate.below(snapshot().min_body_rate))
        return true;
    ++context_.counters.slow_bodies;
    break_off(Broken::client_stalled);
    return false;
}

// Reads no further than what belongs to this body, or fits beside the next request's beginning.
net::Task<bool> Exchange::read_body(net::Block& block, Duration pause, std::string_view& payload) {
    if (downstream_.input_ended()) {
        break_off(Broken::client_gone);
        co_return false;
    }
    const std::uint64_t most = request_framing_ == BodyFraming::Kind::length
                                   ? body_left_
                                   : std::uint64_t{downstream_.room()} + 1;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(most, block.size()));
    downstream_.arm_body_deadline(pause);
    reading_body_ = true;
    auto [error, got] = co_await net::read_some(downstream_.socket(), block.span().first(size));
    reading_body_ = false;
    downstream_.disarm_body_deadline();
    if (error) {
        if (!stopping_)
            break_off(Broken::client_gone);
        co_return false;
    }
    const auto step = request_body_.decode(block.span().first(got));
    if (!step) {
        detail_ = step.error().detail;
        break_off(Broken::bad_body);
        co_return false;
    }
    payload = {block.data(), step->payload};
    downstream_.keep_surplus(block.span().first(got).subspan(step->consumed));
    bytes_in_ += step->payload;
    body_left_ -= std::min<std::uint64_t>(body_left_, step->payload);
    if (!stopping_ && bytes_in_ > route_->max_body) [[unlikely]] {
        break_off(Broken::body_too_long); // a part of the body that the upstream never sees
        co_return false;
    }
    co_return true;
}

net::Task<bool> Exchange::forward_body(std::string_view payload) {
    const bool chunked = request_framing_ == BodyFraming::Kind::chunked;
    const http::ChunkHeader chunk{payload.size()};
    net::Gather gather;
    if (!payload.empty()) {
        gather.add(chunked ? chunk.view() : std::string_view{});
        gather.add(payload);
        gather.add(chunked ? http::chunk_end : std::string_view{});
    }
    if (chunked && request_body_.done())
        gather.add(http::last_chunk);
    ErrorCode error = net::write_now(lease_.socket(), gather);
    if (!error && !gather.empty()) {
        pump_writes_ = true;
        downstream_.watch_from_afar();
        downstream_.arm_body_deadline(route_->timeouts.body_idle);
        error = co_await send_all(lease_.socket(), gather);
        downstream_.disarm_body_deadline();
        pump_writes_ = false;
    }
    // An upstream that closes early may have answered before: whoever waits for that decides.
    co_return !error && !stopping_ && broken_ == Broken::no;
}

void Exchange::end_pump() {
    pumping_ = false;
    if (request_body_.done() && broken_ == Broken::no) {
        if (!head_sent_)
            arm(Waiting::response, route_->timeouts.response);
        downstream_.watch();
    }
    pump_stopped_.signal();
}

void Exchange::stop_pump() noexcept {
    if (!pumping_)
        return;
    stopping_ = true;
    lease_.abort();
    ErrorCode ignored;
    downstream_.socket().cancel(ignored);
}

} // namespace stint::proxy
