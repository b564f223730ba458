#include "observe/page_series.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

namespace stint::observe {
namespace {

using Figures = ProcessFigures;

bool is_of_stint(std::string_view name) noexcept {
    return name.starts_with('(');
}

std::uint64_t uses_of(const RouteCounters& counters) noexcept {
    std::uint64_t uses = counters.in_flight;
    for (const auto& by_class : counters.requests)
        uses = std::accumulate(by_class.begin(), by_class.end(), uses);
    return uses;
}

std::uint64_t uses_of(const Histogram& histogram) noexcept {
    return std::accumulate(histogram.buckets.begin(), histogram.buckets.end(), std::uint64_t{0});
}

std::uint64_t uses_of(const UpstreamCounters& counters) noexcept {
    return uses_of(counters.latency) + counters.connects + counters.connect_failures +
           counters.reused + counters.retries + counters.retries_over_budget;
}

std::uint64_t uses_of(const WaitCounters& counters) noexcept {
    return uses_of(counters.time) + counters.refused;
}

void fit(SlotCounters<RouteCounters>& counters, std::size_t size) {
    counters.grow(size);
}

template <class Counters>
void fit(std::vector<Counters>& counters, std::size_t size) {
    counters.resize(std::max(counters.size(), size));
}

// Returns true for each slot whose name has series of its own. counters: by slot.
template <class Counters>
std::vector<bool> own_slots(
    SeriesChoice& choice,
    const std::vector<std::string>& names,
    const Counters& counters,
    std::size_t most) {
    std::vector<std::uint64_t> uses(names.size());
    for (std::size_t i = 0; i < std::min(names.size(), counters.size()); ++i)
        uses[i] = uses_of(counters[i]);
    for (std::size_t i = 0; i < names.size(); ++i)
        if (is_of_stint(names[i]))
            uses[i] = SeriesChoice::always;
    choice.decide(uses, most);
    std::vector<bool> own(names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
        own[i] = choice.has_own(i);
    return own;
}

// Returns the counters of one kind in the slots of the page; names without series of their own are
// summed. counters: by the slots of `names`. slot_of: returns the page's slot of a name, and makes
// it if necessary.
template <class Counters, class SlotOf>
Counters summed(
    SeriesChoice& choice,
    const std::vector<std::string>& names,
    const Counters& counters,
    std::size_t most,
    SlotOf slot_of) {
    const std::vector<bool> own = own_slots(choice, names, counters, most);
    Counters page;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t slot = slot_of(own[i] ? names[i] : std::string{other_names});
        fit(page, slot + 1);
        if (i < counters.size())
            page[slot] += counters[i];
    }
    return page;
}

constexpr std::array by_limit = {&WorkerCounters::refusals,   &WorkerCounters::denied,
                                 &WorkerCounters::fenced_off, &WorkerCounters::exempted,
                                 &WorkerCounters::overruns,   &WorkerCounters::granted,
                                 &WorkerCounters::replayed};

// Sums the counters of pairs of a route and a limit. The pairs of permit requests stay apart from
// those of routes.
void sum_refusals(
    SeriesChoice& choice,
    const WorkerCounters& sum,
    const MetricSlots& slots,
    std::size_t most,
    PageParts& page) {
    const auto& pairs = slots.refusals();
    std::vector<std::uint64_t> uses(pairs.size());
    for (const auto member : by_limit)
        for (std::size_t i = 0; i < std::min(uses.size(), (sum.*member).size()); ++i)
            uses[i] += (sum.*member)[i];
    for (std::size_t i = 0; i < std::min(uses.size(), sum.dry_runs.size()); ++i)
        uses[i] += sum.dry_runs[i].would_refuse + sum.dry_runs[i].would_wait;
    for (std::size_t i = 0; i < pairs.size(); ++i)
        if (is_of_stint(pairs[i].second))
            uses[i] = SeriesChoice::always;
    choice.decide(uses, most);
    const std::string other{other_names};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto& [route, limit] = pairs[i];
        const bool own = choice.has_own(i);
        const std::size_t slot =
            page.slots.refusal(own || route == permits_route ? route : other, own ? limit : other);
        for (const auto member : by_limit) {
            auto& counters = page.sum.*member;
            counters.resize(std::max(counters.size(), slot + 1));
            counters[slot] += i < (sum.*member).size() ? (sum.*member)[i] : 0;
        }
        auto& dry_runs = page.sum.dry_runs;
        dry_runs.resize(std::max(dry_runs.size(), slot + 1));
        if (i < sum.dry_runs.size())
            dry_runs[slot] += sum.dry_runs[i];
    }
}

// Splits figures into those of names with series of their own, which stay in `all`, and the rest,
// which is returned.
template <class Figure, class NameOf, class UsesOf>
std::vector<Figure> take_others(
    std::vector<Figure>& all,
    PageSeries::ByName& named,
    std::size_t most,
    NameOf name_of,
    UsesOf used) {
    std::vector<std::size_t> indices;
    for (const Figure& each : all)
        indices.push_back(
            named.indices.try_emplace(name_of(each), named.indices.size()).first->second);
    std::vector<std::uint64_t> uses(named.indices.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        uses[indices[i]] = is_of_stint(name_of(all[i])) ? SeriesChoice::always : used(all[i]);
    named.choice.decide(uses, most);
    std::vector<Figure> own;
    std::vector<Figure> others;
    for (std::size_t i = 0; i < all.size(); ++i) {
        (named.choice.has_own(indices[i]) ? own : others).push_back(std::move(all[i]));
    }
    all = std::move(own);
    named.any_other = named.any_other || !others.empty();
    return others;
}

// Replaces the sums of counters by values that never fall (ByName::shown).
void keep_rising(PageSeries::ByName& named, std::span<std::uint64_t* const> counters) {
    named.seen.resize(counters.size());
    named.shown.resize(counters.size());
    for (std::size_t i = 0; i < counters.size(); ++i) {
        const std::uint64_t now = *counters[i];
        named.shown[i] += now > named.seen[i] ? now - named.seen[i] : 0;
        named.seen[i] = now;
        *counters[i] = named.shown[i];
    }
}

void sum_limits(
    std::vector<Figures::LimitFigures>& limits, PageSeries::ByName& named, std::size_t most) {
    using Limit = Figures::LimitFigures;
    const std::vector<Limit> others = take_others(
        limits, named, most, [](const Limit& limit) { return limit.name; },
        [](const Limit& limit) {
            const Figures::SlotFigures slots = limit.slots.value_or(Figures::SlotFigures{});
            return limit.used + limit.live_keys + limit.waiting + limit.overflow +
                   limit.table_full + limit.overrides + slots.given + slots.claimed + slots.missed;
        });
    if (!named.any_other)
        return;
    Limit sum{.name = std::string{other_names}, .others = true, .waits = true};
    Figures::SlotFigures slots;
    for (const Limit& each : others) {
        sum.used += each.keyed ? 0 : each.used;
        sum.live_keys += each.live_keys;
        sum.overflow += each.overflow;
        sum.table_full += each.table_full;
        sum.overrides += each.overrides;
        sum.waiting += each.waiting;
        if (!each.slots)
            continue;
        slots.reserved += each.slots->reserved;
        slots.given += each.slots->given;
        slots.claimed += each.slots->claimed;
        slots.missed += each.slots->missed;
    }
    keep_rising(
        named,
        std::array{&sum.overflow, &sum.table_full, &slots.given, &slots.claimed, &slots.missed});
    sum.slots = slots;
    limits.push_back(std::move(sum));
}

void sum_endpoints(
    std::vector<Figures::EndpointFigures>& endpoints, PageSeries::ByName& named, std::size_t most) {
    using Endpoint = Figures::EndpointFigures;
    const std::vector<Endpoint> others = take_others(
        endpoints, named, most,
        [](const Endpoint& each) { return each.upstream + ' ' + each.endpoint; },
        [](const Endpoint& each) {
            return each.in_flight + each.ejections + each.failures + each.checks_passed +
                   each.checks_failed;
        });
    if (!named.any_other)
        return;
    Endpoint sum{.upstream = std::string{other_names}, .endpoint = std::string{other_names}};
    sum.metric = Endpoint::no_metric;
    sum.up = true;
    for (const Endpoint& each : others) {
        sum.up = sum.up && each.up;
        sum.in_flight += each.in_flight;
        sum.ejections += each.ejections;
        sum.failures += each.failures;
        sum.checks_passed += each.checks_passed;
        sum.checks_failed += each.checks_failed;
    }
    keep_rising(
        named, std::array{&sum.ejections, &sum.failures, &sum.checks_passed, &sum.checks_failed});
    endpoints.push_back(std::move(sum));
}

void sum_cooldowns(
    std::vector<Figures::CooldownFigures>& cooldowns, PageSeries::ByName& named, std::size_t most) {
    using Cooldown = Figures::CooldownFigures;
    const std::vector<Cooldown> others = take_others(
        cooldowns, named, most, [](const Cooldown& each) { return each.owner + ' ' + each.scope; },
        [](const Cooldown& each) {
            return each.paused + each.pauses + each.refused + each.waiting;
        });
    if (!named.any_other)
        return;
    Cooldown sum{std::string{other_names}, std::string{other_names}};
    for (const Cooldown& each : others) {
        sum.paused += each.paused;
        sum.pauses += each.pauses;
        sum.refused += each.refused;
        sum.waiting += each.waiting;
    }
    keep_rising(named, std::array{&sum.pauses, &sum.refused});
    cooldowns.push_back(std::move(sum));
}

void sum_locks(
    std::vector<Figures::LockFigures>& locks, PageSeries::ByName& named, std::size_t most) {
    using Lock = Figures::LockFigures;
    constexpr std::array counters = {&Lock::granted,      &Lock::refused, &Lock::released,
                                     &Lock::disconnected, &Lock::forced,  &Lock::expired};
    const std::vector<Lock> others = take_others(
        locks, named, most, [](const Lock& lock) { return lock.name; },
        [&](const Lock& lock) {
            std::uint64_t uses = lock.held + lock.waiting;
            for (const auto counter : counters)
                uses += lock.*counter;
            return uses;
        });
    if (!named.any_other)
        return;
    Lock sum{.name = std::string{other_names}};
    for (const Lock& each : others) {
        sum.locks += each.locks;
        sum.held += each.held;
        sum.waiting += each.waiting;
        for (const auto counter : counters)
            sum.*counter += each.*counter;
    }
    std::array<std::uint64_t*, counters.size()> rising{};
    for (std::size_t i = 0; i < counters.size(); ++i)
        rising[i] = &(sum.*counters[i]);
    keep_rising(named, rising);
    locks.push_back(std::move(sum));
}

// Adds the requests in flight that the workers count for an upstream's only endpoint. Then sets
// `metric` to no_metric, because it is a slot in `sum`, not on the page.
void add_in_flight(std::vector<Figures::EndpointFigures>& endpoints, const WorkerCounters& sum) {
    for (Figures::EndpointFigures& each : endpoints) {
        if (each.metric < sum.upstreams.size())
            each.in_flight += sum.upstreams[each.metric].in_flight;
        each.metric = Figures::EndpointFigures::no_metric;
    }
}

} // namespace

PageParts PageSeries::bounded(
    const WorkerCounters& sum, const MetricSlots& slots, ProcessFigures figures, std::size_t most) {
    PageParts page{sum, {}, std::move(figures)};
    for (const auto member : by_limit)
        (page.sum.*member).clear();
    page.sum.dry_runs.clear();
    MetricSlots& own = page.slots;
    page.sum.routes = summed(routes_, slots.routes(), sum.routes, most, [&](const auto& name) {
        return own.route(name);
    });
    page.sum.upstreams =
        summed(upstreams_, slots.upstreams(), sum.upstreams, most, [&](const auto& name) {
            return own.upstream(name);
        });
    page.sum.waits = summed(
        waits_, slots.waits(), sum.waits, most, [&](const auto& name) { return own.wait(name); });
    sum_refusals(refusals_, sum, slots, most, page);
    add_in_flight(page.figures.endpoints, sum);
    sum_limits(page.figures.limits, limits_, most);
    sum_endpoints(page.figures.endpoints, endpoints_, most);
    sum_cooldowns(page.figures.cooldowns, cooldowns_, most);
    sum_locks(page.figures.locks, locks_, most);
    return page;
}

} // namespace stint::observe
