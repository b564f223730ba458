#include "permits/acquire_limits.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace stint::permits {
namespace {

bool is_own_window(const limits::Limit& limit) noexcept {
    return is_fixed_window(limit) && limit.identity().anchor == limits::Anchor::first_request;
}

const std::string& name_of(const routing::LimitTerms& limit) noexcept {
    return limit.limit->identity().name;
}

} // namespace

int AcquireLimits::find(const AcquireRequest& ask, SteadyTime now) {
    for (const Wanted& wanted : ask.limits) {
        Part& part = parts_.emplace_back();
        part.cost = wanted.cost;
        if (!find_limit(wanted, part, now) || !find_key(wanted, part, now))
            return status_;
    }
    if (ask.batch > 0 && !is_fixed_window(*parts_.front().limit->limit))
        fail(400, {"a batch needs a fixed window: what is handed out ends with it"});
    else
        list_charges();
    return status_;
}

bool AcquireLimits::find_limit(const Wanted& wanted, Part& part, SteadyTime now) {
    const routing::PermitTerms& terms = *config_.snapshot->permits;
    const std::string_view name = wanted.name;
    if (const auto* const index = routing::find_text(terms.by_name, wanted.name)) {
        part.limit = {config_.snapshot->limits[*index].get(), &terms.limits[*index]};
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
        wanted.name, wanted.brought, terms.dynamic_limits, terms.dynamic_metric, now);
    if (auto* const limit = std::get_if<DynamicLimitPtr>(&found)) {
        part.brought = std::move(*limit);
        part.limit = part.brought->applied();
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

bool AcquireLimits::find_key(const Wanted& wanted, Part& part, SteadyTime now) {
    const routing::LimitTerms& limit = *part.limit.terms;
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
    const auto hash = limit.key.hash_of(text, context_.shared().hasher);
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
    config_.heavy_hitters_of(part.limit.on_route->index).add(part.key, *canonical, now);
    return obey_rules(*canonical, part);
}

bool AcquireLimits::obey_rules(std::string_view text, Part& part) {
    const routing::LimitTerms& limit = *part.limit.terms;
    if (limit.rules == nullptr) [[likely]]
        return true;
    if (limit.rules->deny.contains(peer_.address(), text)) {
        ++context_.counters.denied[part.limit.on_route->refusal_metric];
        reply_.deny(part.limit, routing::Denial::listed);
        status_ = 403;
        return false;
    }
    part.exempt = limit.rules->exempt.contains(peer_.address(), text);
    part.numbers = routing::numbers_for(limit.rules, part.numbers, text);
    return true;
}

bool AcquireLimits::list_charges() {
    for (std::size_t i = 0; i < parts_.size(); ++i)
        if (parts_[i].cost > 0 && !parts_[i].exempt)
            part_of_.push_back(static_cast<std::uint8_t>(i));
    const auto ordinal = [&](std::uint8_t i) { return parts_[i].limit->limit->ordinal(); };
    std::ranges::sort(part_of_, {}, ordinal);
    const auto twice = std::ranges::adjacent_find(part_of_, {}, ordinal);
    if (twice != part_of_.end()) {
        fail(400, {"the limit ", name_of(*parts_[*twice].limit.terms), " is asked for twice"});
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

void AcquireLimits::renumber(std::size_t i, const limits::Numbers& numbers) noexcept {
    charges_.charges[i].quota = numbers.quota;
    charges_.charges[i].burst = numbers.burst;
    parts_[part_of_[i]].numbers = numbers;
}

bool AcquireLimits::fail(int status, std::initializer_list<std::string_view> detail) {
    std::string text;
    for (const std::string_view part : detail)
        text.append(part);
    reply_.explain(std::move(text));
    status_ = status;
    return false;
}

} // namespace stint::permits
