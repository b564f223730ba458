// Retries of a request: because its pooled connection had died, because nothing of it had been
// sent, or because its route's rules say so.
#include "net/clock.hpp"
#include "proxy/exchange.hpp"
#include "server/resource_exhaustion.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace stint::proxy {
namespace {

// True for methods whose request may be sent a second time (RFC 9110 section 9.2.2).
bool idempotent(std::string_view method) {
    constexpr std::string_view methods[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
    return std::find(std::begin(methods), std::end(methods), method) != std::end(methods);
}

} // namespace

// True if the request can be sent from its first byte.
bool Exchange::request_at_hand() const noexcept {
    return !body_pump_.begun || !pending_request_.empty();
}

// Decides whether to retry on another connection to the same endpoint, whatever the rules: servers
// close idle connections, and cannot know that a request is on its way. True once a request at
// most. A request that is not idempotent goes only if no byte of it was taken.
bool Exchange::should_reconnect() noexcept {
    const bool untouched = !pending_request_.empty() && !pending_request_.begun();
    const bool again = lease_.reused() && !attempts_.renewed && request_at_hand() && filled_ == 0 &&
                       interims_ == 0 && (untouched || idempotent(stream_.head().method));
    if (again) {
        attempts_.renewed = true;
        attempts_.outcome_reported = false;
        ++upstream_counters().retries;
    }
    return again;
}

// Checks the conditions of every retry, whatever has failed. One of them: no pause has begun since
// the request was sent.
bool Exchange::may_retry(SteadyTime now) noexcept {
    const routing::RetryRules& rules = route().retry;
    const bool untold =
        stream_.bytes_out() == 0 && !stream_.head_sent(); // the client has nothing of an answer
    const bool whole = stream_.body_done() && request_at_hand();
    if (attempts_.made >= rules.attempts || abort_reason_ != AbortReason::no || !untold || !whole ||
        !rules.on_method(stream_.head().method) || (pass_ && !pass_.still_good()))
        return false;
    if (cluster_->retry_budget().allows(now, rules.budget))
        return true;
    ++upstream_counters().retries_over_budget;
    return false;
}

// Decides whether to retry and where: an untried endpoint, else any other, else the same, as far as
// they take requests. If it was sent, it is one request more to the scope of its cooldown, and
// needs a pass; without it the client gets the answer there is. why: the reason that this endpoint
// has failed by, for people.
bool Exchange::should_retry(std::string_view why, bool was_sent) {
    const SteadyTime now = net::read_steady_clock();
    if (!may_retry(now))
        return false;
    limits::Cooldown::Pass pass;
    if (admission_.cooldown() && was_sent) {
        pass = limits::Cooldown::enter(admission_.cooldown(), now, route().cooldown.rules).pass;
        if (!pass)
            return false;
    }
    endpoint_failed(why);
    if (!take_other_endpoint()) {
        attempts_.tried = 0;
        if (!take_other_endpoint() && !cluster_->takes(*endpoint_, now))
            return false;
        attempts_.outcome_reported = false;
    }
    if (pass)
        pass_ = std::move(pass);
    cluster_->retry_budget().note_retry(now);
    ++attempts_.made;
    ++upstream_counters().retries;
    return true;
}

// Decides whether to retry a failed connect. Whatever the rules, a refused connection tries another
// endpoint, once: nothing of the request was sent.
bool Exchange::should_retry_connect(const upstream::Lease::Connected& connected) {
    if (server::is_resource_exhaustion(connected.error))
        return false; // the gateway's own lack
    const routing::RetryRules& rules = route().retry;
    std::string why = "could not connect: ";
    why += connected.reason.empty() ? connected.error.message() : connected.reason;
    const bool refused =
        abort_reason_ == AbortReason::no && connected.error == net::asio::error::connection_refused;
    if (refused && cluster_->size() > 1 && !std::exchange(attempts_.failed_over, true) &&
        (!rules.any() || attempts_.made < rules.attempts)) {
        endpoint_failed(why);
        if (take_other_endpoint()) {
            ++attempts_.made;
            return true;
        }
    }
    if (!rules.on_connect)
        return false;
    const bool timed_out = abort_reason_ == AbortReason::connect_timeout;
    if (timed_out)
        abort_reason_ = AbortReason::no; // unless it stays the last attempt
    const bool again = should_retry(timed_out ? "connecting took too long" : why, false);
    if (timed_out && !again)
        abort_reason_ = AbortReason::connect_timeout;
    return again;
}

// Prepares another attempt: drops what has come of an answer, and the connection. The pump refers
// to that connection, and ends first.
net::Task<> Exchange::rewind() {
    disarm();
    stop_pump();
    co_await join();
    body_pump_.stopping = false;
    request_sent_ = false;
    lease_ = {};
    filled_ = 0;
    scanned_ = 0;
    interims_ = 0;
    answered_ = {};
    upstream_time_ = {};
    write_request_head(stream_.head());
    hold_request(http::ChunkHeader{stream_.buffered_body().size()}, {}, 0);
}

} // namespace stint::proxy
