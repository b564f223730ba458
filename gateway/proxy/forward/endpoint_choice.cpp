#include "proxy/forward/endpoint_choice.hpp"

#include "net/clock.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::proxy {
namespace {

using namespace std::chrono_literals;

// Interval at which a queued request tries again to get a slot: a freed slot wakes it, but an
// endpoint that is up again does not.
constexpr Duration ask_again_after = 100ms;

// True for statuses that count as failures of an endpoint. Others, 429 above all, are proper
// answers.
bool is_failure(int status) noexcept {
    return status == 500 || (status >= 502 && status <= 504);
}

} // namespace

void EndpointChoice::choose_origin(const routing::KeyFacts& facts) {
    Context& context = request_.context();
    origin_ = context.origins.choose(
        request_.config().origins[request_.route().upstream], request_.head(),
        request_.record().arrived().steady);
    if (!cluster().by_hash()) [[likely]]
        return;
    // A request without the key is hashed by its client's address.
    const routing::Key key = cluster().balance().hash_key.evaluate(facts, context.scratch.key);
    key_ = upstream::stable_hash(key.missing ? request_.record().client().text() : key.text);
}

// Chooses an endpoint not tried yet. No side effects unless it returns Taken::yes.
EndpointChoice::Taken EndpointChoice::take(SteadyTime now) {
    // No request overtakes those in the queue.
    if (cluster().queue() != nullptr && !wait_ && cluster().queue()->awaited()) [[unlikely]]
        return Taken::full;
    upstream::Cluster::Choice choice = cluster().choose(now, key_, tried_);
    if (choice.member == nullptr) [[unlikely]]
        return choice.full ? Taken::full : Taken::none;
    member_ = choice.member;
    in_flight_ = std::move(choice.charge);
    is_reported_ = false;
    return Taken::yes;
}

Next EndpointChoice::take_first() {
    if (chosen())
        return Next::forward;
    const SteadyTime now = request_.admission().decided().steady;
    if (upstream::Cluster::Member* const only = cluster().the_only(now)) [[likely]] {
        member_ = only;
        in_flight_ = upstream::InFlightToken{*only->own_in_flight};
        is_reported_ = false;
        return Next::forward;
    }
    const Taken taken = take(now);
    if (taken == Taken::yes) [[likely]]
        return Next::forward;
    return taken == Taken::full ? join_queue(now) : refuse(taken, now);
}

bool EndpointChoice::take_other(SteadyTime now, bool again) {
    tried_ |= member_->bit();
    if (take(now) == Taken::yes)
        return true;
    if (!again)
        return false;
    tried_ = member_->bit();
    if (take(now) != Taken::yes && !cluster().takes(*member_, now))
        return false;
    is_reported_ = false;
    return true;
}

void EndpointChoice::leave() noexcept {
    in_flight_.release();
    member_ = nullptr;
    tried_ = 0;
}

const std::string& EndpointChoice::name() const noexcept {
    static const std::string none;
    return chosen() ? streams().endpoint() : none;
}

std::string_view EndpointChoice::authority() const noexcept {
    return chosen() ? std::string_view{spec().endpoints[member_->index].authority}
                    : std::string_view{};
}

void EndpointChoice::answered(int status, SteadyTime at) {
    if (std::exchange(is_reported_, true))
        return;
    if (!is_failure(status)) [[likely]]
        upstream::Cluster::succeeded(*member_);
    else
        cluster().failed(*member_, "answered " + std::to_string(status), at);
}

void EndpointChoice::failed(std::string_view why) {
    if (chosen() && !std::exchange(is_reported_, true))
        cluster().failed(*member_, why, net::read_steady_clock());
}

// Queues the request until an endpoint has a free slot, for max_wait at most.
Next EndpointChoice::join_queue(SteadyTime now) {
    const routing::BalanceSpec& balance = cluster().balance();
    wait_ = std::make_unique<EndpointWait>(
        *cluster().queue(), request_.context().executor, now + balance.max_wait,
        request_.stream().connection().waits);
    if (wait_->join(balance.max_waiting))
        return Next::wait_endpoint;
    wait_.reset();
    return refuse(Taken::full, now);
}

Next EndpointChoice::try_again(SteadyTime now) {
    if (wait_->is_first()) {
        const Taken taken = take(now);
        if (taken == Taken::yes)
            return Next::forward;
        if (taken == Taken::none)
            return refuse(taken, now);
    }
    return now < wait_->until() ? Next::wait_endpoint : refuse(Taken::full, now);
}

net::Task<Next> EndpointChoice::wait() {
    request_.stream().watch();
    Next next = try_again(net::read_steady_clock());
    while (next == Next::wait_endpoint) {
        const SteadyTime again = net::read_steady_clock() + ask_again_after;
        co_await wait_->until_called(std::min(again, wait_->until()));
        request_.stream().poll_peer_close();
        next = request_.is_aborted() ? Next::reply : try_again(net::read_steady_clock());
    }
    wait_.reset();
    co_return next;
}

// Fails the request with 503. Its Retry-After is the time until an endpoint may be up again, or 1 s
// if that is not known, as when all endpoints are full.
Next EndpointChoice::refuse(Taken why, SteadyTime now) {
    const Duration known = why == Taken::none ? cluster().back_in(now) : Duration::zero();
    request_.fail(
        503,
        why == Taken::none
            ? "no endpoint of the upstream " + spec().name + " is up"
            : "all endpoints of the upstream " + spec().name + " have too many requests",
        observe::Outcome::upstream_failed);
    request_.admission().reply().set_retry_after(std::max<Duration>(known, 1s));
    return Next::reply;
}

} // namespace stint::proxy
