// Chooses the upstream's endpoint for a request, and reports its successes and failures.
#include "net/clock.hpp"
#include "proxy/exchange.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace stint::proxy {
namespace {

using namespace std::chrono_literals;

// Polling interval of the queue's waiters: a freed place calls them, a recovered endpoint does not.
constexpr Duration ask_again_after = 100ms;

// True for answers of an endpoint that does not do its work. Others, 429 above all, are good
// answers to a client that has no right to a better one.
bool is_failure(int status) noexcept {
    return status == 500 || (status >= 502 && status <= 504);
}

} // namespace

// Notes the key of balance: hash. Requests without it are told apart by their client's address.
void Exchange::note_endpoint_key(const routing::KeyFacts& facts) {
    const routing::Key key = cluster_->balance().hash_key.evaluate(facts, context_.scratch.key);
    endpoint_key_ = upstream::stable_hash(key.missing ? client_->text() : key.text);
}

// Chooses an endpoint not tried yet. No side effects unless it returns Taken::yes.
Taken Exchange::take_endpoint(SteadyTime now) {
    // No request overtakes those in the queue.
    if (cluster_->queue() != nullptr && !endpoint_wait_ && cluster_->queue()->awaited())
        [[unlikely]]
        return Taken::full;
    upstream::Cluster::Choice choice = cluster_->choose(now, endpoint_key_, attempts_.tried);
    if (choice.member == nullptr) [[unlikely]]
        return choice.full ? Taken::full : Taken::none;
    endpoint_ = choice.member;
    pool_ = endpoint_->pool.get();
    in_flight_ = std::move(choice.charge);
    attempts_.outcome_reported = false;
    return Taken::yes;
}

// Chooses the first endpoint. False: next_ says whether the request waits or is refused.
bool Exchange::take_first_endpoint() {
    const SteadyTime now = admission_.decided().steady;
    if (route().retry.any() && !std::exchange(attempts_.noted, true)) [[unlikely]]
        cluster_->retry_budget().note_request(now);
    if (upstream::Cluster::Member* const only = cluster_->the_only(now)) [[likely]] {
        endpoint_ = only;
        pool_ = only->pool.get();
        in_flight_ = upstream::InFlightToken{*only->own_in_flight};
        attempts_.outcome_reported = false;
        name_endpoint();
        return true;
    }
    const Taken taken = take_endpoint(now);
    if (taken == Taken::yes) [[likely]] {
        name_endpoint();
        return true;
    }
    next_ = taken == Taken::full ? join_endpoint_queue(now) : refuse_unavailable(taken, now);
    return false;
}

bool Exchange::take_other_endpoint() {
    attempts_.tried |= endpoint_->bit();
    return take_endpoint(net::read_steady_clock()) == Taken::yes;
}

// Returns the Host of a request that has none (HTTP/1.0), as an upstream needs one. Empty before
// the endpoint is known.
std::string_view Exchange::endpoint_authority() const noexcept {
    if (endpoint_ == nullptr)
        return {};
    return snapshot().upstreams[route().upstream].endpoints[endpoint_->index].authority;
}

// Rewrites a head without Host: it was written before there was an endpoint.
void Exchange::name_endpoint() {
    if (stream_.head().authority.empty()) [[unlikely]]
        write_request_head(stream_.head());
}

void Exchange::leave_endpoint() noexcept {
    in_flight_.release();
    endpoint_ = nullptr;
    pool_ = nullptr;
    attempts_.tried = 0;
}

void Exchange::endpoint_answered(int status) {
    if (std::exchange(attempts_.outcome_reported, true))
        return;
    if (!is_failure(status)) [[likely]]
        upstream::Cluster::succeeded(*endpoint_);
    else
        cluster_->failed(*endpoint_, "answered " + std::to_string(status), answered_);
}

void Exchange::endpoint_failed(std::string_view why) {
    if (endpoint_ != nullptr && !std::exchange(attempts_.outcome_reported, true))
        cluster_->failed(*endpoint_, why, net::read_steady_clock());
}

// Queues the request until an endpoint has a place, for max_wait at most.
Exchange::Next Exchange::join_endpoint_queue(SteadyTime now) {
    const routing::BalanceSpec& balance = cluster_->balance();
    endpoint_wait_ = std::make_unique<EndpointWait>(
        *cluster_->queue(), context_.executor, now + balance.max_wait);
    if (endpoint_wait_->join(balance.max_waiting))
        return Next::wait_endpoint;
    endpoint_wait_.reset();
    return refuse_unavailable(Taken::full, now);
}

Exchange::Next Exchange::try_endpoints(SteadyTime now) {
    if (endpoint_wait_->is_first()) {
        const Taken taken = take_endpoint(now);
        if (taken == Taken::yes)
            return Next::forward;
        if (taken == Taken::none)
            return refuse_unavailable(taken, now);
    }
    return now < endpoint_wait_->until() ? Next::wait_endpoint
                                         : refuse_unavailable(Taken::full, now);
}

// Waits for a place on an endpoint. Watches the client meanwhile, but does not read its body.
// Always ends: with a place, with a refusal, or when the exchange is aborted.
net::Task<Exchange::Next> Exchange::wait_for_endpoint() {
    stream_.watch();
    Next next = try_endpoints(net::read_steady_clock());
    while (next == Next::wait_endpoint) {
        const SteadyTime again = net::read_steady_clock() + ask_again_after;
        co_await endpoint_wait_->sleep_until(std::min(again, endpoint_wait_->until()));
        stream_.poll_peer_close();
        next = abort_reason_ == AbortReason::no ? try_endpoints(net::read_steady_clock())
                                                : Next::reply;
    }
    endpoint_wait_.reset();
    note_wait();
    if (next == Next::forward)
        write_request_head(stream_.head());
    co_return next;
}

// Retry-After says when an endpoint may come back, if known. When one has a place is not known.
Exchange::Next Exchange::refuse_unavailable(Taken why, SteadyTime now) {
    const std::string& name = snapshot().upstreams[route().upstream].name;
    const Duration known = why == Taken::none ? cluster_->back_in(now) : Duration::zero();
    fail(
        503,
        why == Taken::none ? "no endpoint of the upstream " + name + " is up"
                           : "all endpoints of the upstream " + name + " have too many requests",
        observe::Outcome::upstream_failed);
    admission_.reply().set_retry_after(std::max<Duration>(known, 1s));
    return Next::reply;
}

} // namespace stint::proxy
