// Limits that a request for permits names, and what it charges them.
#include "base/bytes.hpp"
#include "permits/acquire_operation.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace stint::permits {
namespace {

bool is_own_window(const limits::Limit& limit) noexcept {
    return is_fixed_window(limit) && limit.identity().anchor == limits::Anchor::first_request;
}

const std::string& name_of(const routing::RouteLimit& limit) noexcept {
    return limit.limit->identity().name;
}

} // namespace

bool AcquireOperation::find_parts(const AcquireRequest& ask) {
    return std::ranges::all_of(ask.limits, [this](const Wanted& wanted) {
        Part& part = parts_.emplace_back();
        part.cost = wanted.cost;
        return find_limit(wanted, part) && find_key(wanted, part);
    });
}

bool AcquireOperation::find_limit(const Wanted& wanted, Part& part) {
    const std::string_view name = wanted.name;
    if (const auto* const index = routing::find_text(terms().by_name, wanted.name)) {
        part.limit = &terms().limits[*index];
        const limits::Limit& limit = *part.limit->limit;
        if (limit.identity().algorithm == limits::Algorithm::concurrency)
            fail(
                400, {"the limit ", name,
                      " is a cap on what is in flight: nothing would end what a permit began"});
        else if (
            wanted.brought && (!is_own_window(limit) ||
                               *wanted.brought != Brought{part.limit->quota, limit.identity().per}))
            fail(409, {"the limit ", name, " is configured, with other numbers"});
        return status_ == 200;
    }
    auto found = shared_.dynamic.obtain(
        wanted.name, wanted.brought, terms().dynamic_limits, terms().dynamic_metric, now_.steady);
    if (auto* const limit = std::get_if<RouteLimitPtr>(&found)) {
        part.brought = std::move(*limit);
        part.limit = part.brought.get();
        return true;
    }
    switch (std::get<DynamicLimits::Failure>(found)) {
    case DynamicLimits::Failure::unknown:
        fail(
            404, {"there is no limit ", name,
                  wanted.brought ? ", and callers may not bring one: see dynamic_limits" : ""});
        break;
    case DynamicLimits::Failure::different:
        fail(409, {"the limit ", name, " is in use with other numbers"});
        break;
    case DynamicLimits::Failure::too_many:
        fail(503, {"as many limits as dynamic_limits allows are in use"});
        reply_.set_retry_after(std::chrono::seconds{1});
        break;
    }
    return false;
}

bool AcquireOperation::find_key(const Wanted& wanted, Part& part) {
    const routing::RouteLimit& limit = *part.limit;
    part.numbers = {limit.quota, limit.burst};
    if (limit.key.empty()) {
        if (wanted.key)
            fail(400, {"the limit ", name_of(limit), " has no key: it counts all together"});
        return !wanted.key;
    }
    if (!wanted.key && !part.brought) {
        fail(
            400, {"the limit ", name_of(limit), " counts by ", limit.key.text(),
                  "; expected a \"key\""});
        return false;
    }
    const std::string_view text = wanted.key.value_or("");
    const auto hash = limit.key.hash_of(text, context_.shared.hasher);
    if (!hash) {
        fail(
            400,
            {"the limit ", name_of(limit), " counts by client_ip, and the \"key\" is no address"});
        return false;
    }
    part.key = *hash;
    if (part.brought)
        return true;
    const std::optional<std::string> canonical = limit.key.canonical(text);
    config_->heavy_hitters[limit.index]->add(part.key, *canonical, now_.steady);
    return obey_rules(*canonical, part);
}

bool AcquireOperation::obey_rules(std::string_view text, Part& part) {
    const routing::RouteLimit& limit = *part.limit;
    if (limit.rules == nullptr) [[likely]]
        return true;
    if (limit.rules->deny.contains(peer_.address(), text)) {
        ++context_.counters.denied[limit.refusal_metric];
        reply_.deny(limit, routing::Denial::listed);
        status_ = 403;
        return false;
    }
    part.exempt = limit.rules->exempt.contains(peer_.address(), text);
    part.numbers = routing::numbers_for(limit.rules, part.numbers, text);
    return true;
}

// True if none of the limits is paused. Checked last: an earlier grant is replayed whatever is
// paused now.
bool AcquireOperation::is_open() {
    return std::ranges::all_of(parts_, [this](const Part& part) {
        const auto pause =
            shared_.reported_cooldowns.look({part.limit->limit->ordinal(), part.key}, now_.steady);
        if (!pause) [[likely]]
            return true;
        ++context_.counters.refusals[part.limit->refusal_metric];
        status_ = pause->status;
        paused_ = pause->left;
        paused_limit_ = part.limit->limit;
        return false;
    });
}

bool AcquireOperation::fits(const AcquireRequest& ask) {
    if (ask.batch > 0 && !is_fixed_window(*parts_.front().limit->limit))
        fail(400, {"a batch needs a fixed window: what is handed out ends with it"});
    return status_ == 200;
}

// Lists the charges in the order of their limits, as admit() requires.
bool AcquireOperation::list_charges() {
    for (std::size_t i = 0; i < parts_.size(); ++i)
        if (parts_[i].cost > 0 && !parts_[i].exempt)
            part_of_.push_back(static_cast<std::uint8_t>(i));
    const auto ordinal = [&](std::uint8_t i) { return parts_[i].limit->limit->ordinal(); };
    std::ranges::sort(part_of_, {}, ordinal);
    const auto twice = std::ranges::adjacent_find(part_of_, {}, ordinal);
    if (twice != part_of_.end()) {
        fail(400, {"the limit ", name_of(*parts_[*twice].limit), " is asked for twice"});
        return false;
    }
    for (const std::uint8_t i : part_of_) {
        const Part& part = parts_[i];
        charges_.limits.push_back(part.limit);
        limits::Charge& charge = charges_.charges.emplace_back(part.limit->charge(part.key));
        charge.quota = part.numbers.quota;
        charge.burst = part.numbers.burst;
        charge.cost = part.cost;
        charge.refundable = false;
    }
    return true;
}

// True if the request is to be answered anew. Otherwise the reply is the recorded grant, or an
// error.
bool AcquireOperation::claim_once(const AcquireRequest& ask) {
    if (ask.idempotency_key.empty()) [[likely]]
        return true;
    std::string& text = context_.scratch.key;
    text.clear();
    put_text(text, ask.owner.empty() ? peer_.network_text() : ask.owner);
    put(text, ask.owner.empty());
    put_text(text, ask.idempotency_key);
    const KeyHasher& hash = context_.shared.hasher;
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
    for (const Part& part : parts_)
        ++context_.counters.replayed[part.limit->refusal_metric];
}

} // namespace stint::permits
