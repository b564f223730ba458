// The reply to a request for permits: a new grant, a replayed grant, or a pause of the limit.
#include "base/bytes.hpp"
#include "base/hash.hpp"
#include "http/permit_text.hpp"
#include "http/reply_writer.hpp"
#include "permits/acquire_operation.hpp"
#include "permits/milliseconds.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <variant>

namespace stint::permits {
namespace {

// Writes the members of one limit's state, without braces. The permits of a batch are valid until
// the window ends: so a batch's reset_ms is rounded down.
template <class Out>
void write_state(Out& out, const Grant::Limit& limit, SteadyTime now, bool batch) {
    const Duration reset = limit.more_at > now ? limit.more_at - now : Duration::zero();
    out << R"("limit":)" << limit.quota << R"(,"remaining":)" << limit.remaining
        << R"(,"reset_ms":)" << (batch ? milliseconds_down(reset) : milliseconds_up(reset));
}

} // namespace

// Checks the request's idempotency key. True if the request is to be admitted as a new one.
// Otherwise the reply is the recorded grant, or an error.
bool AcquireOperation::claim_once(const AcquireRequest& ask) {
    if (ask.idempotency_key.empty()) [[likely]]
        return true;
    std::string& text = context_.scratch.key;
    text.clear();
    put_text(text, ask.owner.empty() ? peer_.network_text() : ask.owner);
    put(text, ask.owner.empty());
    put_text(text, ask.idempotency_key);
    const KeyHasher& hash = context_.shared().hasher;
    const Hash128 key = hash(text);
    text.clear();
    put(text, ask.batch);
    put(text, ask.ticket);
    put(text, ask.listed);
    for (const Wanted& each : ask.limits) {
        put_text(text, each.name);
        put_text(text, each.key.value_or(""));
        put(text, each.key.has_value());
        put(text, each.cost);
    }
    auto begun = shared_.idempotency_cache.begin(key, hash(text), now_.steady);
    if (auto* const claim = std::get_if<IdempotencyCache::Claim>(&begun)) {
        once_ = std::move(*claim);
        return true;
    }
    if (auto* const recorded = std::get_if<Grant>(&begun))
        replay(*recorded);
    else if (
        std::get<IdempotencyCache::Conflict>(begun) == IdempotencyCache::Conflict::other_request)
        fail(422, {"the idempotency_key was used for another request"});
    else
        fail(409, {"a request with this idempotency_key is still being answered"});
    return false;
}

void AcquireOperation::replay(const Grant& grant) {
    grant_ = grant;
    replayed_ = true;
    for (const AcquireLimits::Part& part : limits_.parts())
        ++context_.counters.replayed[part.limit.on_route->refusal_metric];
}

// True if none of the limits is paused. Checked after claim_once(): a pause does not keep an
// earlier grant from being replayed.
bool AcquireOperation::is_open() {
    return std::ranges::all_of(limits_.parts(), [this](const AcquireLimits::Part& part) {
        const auto pause =
            shared_.reported_cooldowns.look({part.limit->limit->ordinal(), part.key}, now_.steady);
        if (!pause) [[likely]]
            return true;
        ++context_.counters.refusals[part.limit.on_route->refusal_metric];
        status_ = pause->status;
        paused_ = pause->left;
        paused_limit_ = part.limit->limit;
        return false;
    });
}

void AcquireOperation::grant() {
    for (const AcquireLimits::Part& part : limits_.parts()) {
        grant_.limits.push_back(state_of(part));
        if (part.cost > 0)
            ++context_.counters.granted[part.limit.on_route->refusal_metric];
    }
    if (ticket_)
        issue_ticket();
    if (once_)
        once_.record(grant_, end_of_grant());
}

// Issues a ticket, which prepays one proxied request. The grant has none while too many tickets are
// unused: the proxied request is then charged.
void AcquireOperation::issue_ticket() {
    const auto ticket =
        context_.shared().prepaid.issue(limits_.charges().view(), end_of_grant(), now_.steady);
    if (!ticket)
        return;
    grant_.permit = *ticket;
    ++context_.counters.tickets[observe::WorkerCounters::issued];
}

Grant::Limit AcquireOperation::state_of(const AcquireLimits::Part& part) const {
    const limits::CounterState state = part.limit->limit->state_of(
        {.key = part.key, .quota = part.numbers.quota, .burst = part.numbers.burst}, now_);
    return {
        part.numbers.burst > 0 ? part.numbers.burst : part.numbers.quota, state.remaining,
        state.resets_in > Duration::zero() ? now_.steady + state.resets_in : SteadyTime{}};
}

// Returns the end of the charged window that ends first, counting `per` from now for limits without
// a fixed window. Returns the present time if nothing was charged.
SteadyTime AcquireOperation::end_of_grant() const {
    SteadyTime end = SteadyTime::max();
    for (const AcquireLimits::Part& part : limits_.parts()) {
        if (part.cost == 0 || part.exempt)
            continue;
        const limits::Limit& limit = *part.limit->limit;
        const SteadyTime whole = now_.steady + limit.identity().per;
        SteadyTime own = whole;
        if (is_fixed_window(limit))
            own = limit.window_end({.key = part.key}, now_);
        end = std::min(end, own);
    }
    return end == SteadyTime::max() ? now_.steady : end;
}

template <class Out>
void AcquireOperation::write_grant(Out& out) const {
    out << R"({"granted":true,)";
    if (!listed_) {
        write_state(out, grant_.limits.front(), now_.steady, batch_ > 0);
        out << ",";
    }
    out << R"("waited_ms":)" << milliseconds_down(grant_.waited);
    if (batch_ > 0)
        out << R"(,"count":)" << grant_.count;
    if (listed_) {
        out << R"(,"limits":[)";
        for (std::size_t i = 0; i < grant_.limits.size(); ++i) {
            out << (i == 0 ? R"({"name":")" : R"(,{"name":")");
            http::write_json_text(out, limits_.parts()[i].limit->limit->identity().name);
            out << R"(",)";
            write_state(out, grant_.limits[i], now_.steady, batch_ > 0);
            out << "}";
        }
        out << "]";
    }
    if (grant_.permit != Hash128{})
        out << R"(,"permit":")" << http::permit_text(grant_.permit) << R"(")";
    if (replayed_)
        out << R"(,"replayed":true)";
    out << "}\n";
}

void AcquireOperation::respond(http::Response& to) {
    if (status_ == 200)
        http::make_reply(
            to, {}, status_, "application/json", [](http::HeadBuffer&) {},
            [this](auto& sink) { write_grant(sink); });
    else if (paused_ > Duration::zero())
        http::make_paused(
            to, {},
            {.upstream = {},
             .limit = paused_limit_->identity().name,
             .status = status_,
             .retry_after = paused_});
    else
        reply_.make(to, {}, status_);
}

} // namespace stint::permits
