#include "shared/share_counter.hpp"

#include "shared/share_timing.hpp"

#include <algorithm>

namespace stint::shared {

void Wants::note_cost(std::uint64_t cost, SteadyTime at) noexcept {
    if (go_on(at) && cost > cost_ && at < cost_at_ + memory_of_costs)
        return;
    cost_ = cost;
    cost_at_ = at;
}

void Wants::note(SteadyTime at, Duration memory, bool told) noexcept {
    lasting_ = go_on(at) || told;
    expect_until(at + memory);
    latest_ = at;
}

std::uint64_t ShareCounter::whole() const noexcept {
    return has_parts(of) ? number : units_of(of);
}

limits::Numbers ShareCounter::numbers(std::uint64_t units) const noexcept {
    return numbers_of_units(of, units, number);
}

std::uint64_t ShareCounter::capacity(std::uint64_t units) const noexcept {
    return capacity_of_units(of, units, number);
}

std::uint64_t ShareCounter::in_use(const Now& now) const {
    return of.limit->use(charge_on(of, numbers(share)), now);
}

std::uint64_t ShareCounter::hold_with(std::uint64_t units, const Now& now) const {
    const std::uint64_t used = in_use(now);
    if (of.limit->identity().algorithm != limits::Algorithm::token_bucket)
        return std::min(std::max(units, used), held);
    return used <= capacity(units) ? std::min(units, held) : held;
}

std::uint64_t ShareCounter::hold_of_debt(const Now& now) const {
    const std::uint64_t owed = in_use(now);
    return owed >= capacity(held) ? held : std::min(held, units_for(of, owed, number));
}

// A paced request that waits, waits for its share's pace.
bool ShareCounter::is_used_up(const Now& now) const {
    return of.pace || in_use(now) + wants.cost() > capacity(share);
}

bool ShareCounter::is_idle(SteadyTime now) const {
    return now >= used_at + idle_after(of);
}

std::uint64_t ShareCounter::want(const Now& now) const {
    if (is_idle(now.steady) && !in_demand(now.steady))
        return 0;
    const std::uint64_t used = in_use(now);
    if (!in_demand(now.steady)) {
        const std::uint64_t spare = others_lack ? 0 : std::max<std::uint64_t>(used / 8, 1);
        return std::min(used + spare, whole());
    }
    const std::uint64_t little = number / 8;
    if (lasts() || used > little)
        return std::max(number, units_of(of));
    return std::min(used + std::max(units_for(of, wants.cost(), number), little), whole());
}

bool ShareCounter::lasts() const {
    return wants.lasting() || of.pace || leases_of(of) != nullptr || of.limit->waiting() > 0;
}

std::uint64_t ShareCounter::need(SteadyTime now) const noexcept {
    return in_demand(now) ? units_for(of, wants.cost(), number) : 0;
}

bool ShareCounter::has_shrunk(const Now& now) const {
    const std::uint64_t wanted = want(now);
    return wanted <= (others_lack ? told_want * 7 / 8 : told_want / 2) && wanted < told_want;
}

bool ShareCounter::is_awaited(SteadyTime now) const {
    return in_demand(now) && now >= ask_after && share < whole() && of.limit->waiting() > 0;
}

SteadyTime ShareCounter::next_look(SteadyTime now) const {
    const SteadyTime idle = used_at + idle_after(of);
    const SteadyTime sooner = std::min(refresh, idle);
    if (!told_demand)
        return sooner;
    return std::min({sooner, wants.until(), now < ask_after ? ask_after : wants.until()});
}

// If others lack some, what becomes free is for them. Else looks become rare: there may be a
// million such counters. Who wants this share recalls it.
Duration ShareCounter::pause_looks() {
    if (others_lack)
        return between_looks(of);
    const Duration least = between_idle_looks(of);
    look_pause = std::clamp<Duration>(2 * look_pause, least, std::max(least, idle_after(of) / 4));
    return look_pause;
}

// Demand that the store has not been told the end of goes on: of the wants since the latest look
// the limit knows only the last.
void ShareCounter::note_want(SteadyTime at) {
    if (!in_demand(at) && !told_demand) {
        backoff = {};
        ask_after = at;
    }
    wants.note(at, memory_of_wants(of, at - wants.latest()), told_demand);
    used_at = std::max(used_at, at);
}

void ShareCounter::note_demand(const Now& now) {
    const limits::ShareDemand demand = of.limit->share(of.key, now).demand;
    if (demand.whole.quota > 0)
        of.numbers = demand.whole;
    if (demand.wanted_at > wants.latest())
        note_want(demand.wanted_at);
    if (of.limit->waiting() > 0 && demand.cost > 0)
        wants.note_waiting(demand.cost); // those that wait are tried in their order
    // Requests that wait for a lock ask only once.
    const bool goes_on = told_demand || leases_of(of) != nullptr;
    if (!goes_on || of.limit->waiting() == 0 || !is_used_up(now))
        return;
    wants.expect_until(now.steady + memory_of_wants(of, {}));
    used_at = now.steady;
}

void ShareCounter::take_number(std::uint64_t of_store) noexcept {
    if (has_parts(of))
        share = parts_of(share, number, of_store, false);
    number = of_store;
}

void ShareCounter::note_reply(bool grew, Duration time_to_live, SteadyTime now) {
    const Duration most = most_backoff(leases_of(of) != nullptr, time_to_live);
    backoff = grew || !told_demand ? Duration::zero() : next_backoff(backoff, of, most);
    ask_after = awaits_recall() ? now : now + backoff;
    synced_at = now;
    look_pause = {};
    retry_pause = {};
    retry_after = {};
}

// After a recall the other gateways soon give up their unused units. If none have come by then, all
// are used: for hopeless_for() no other recall is expected to bring any.
void ShareCounter::note_recall(bool grew, SteadyTime now) {
    if (grew)
        gifts_by = {};
    else if (gifts_by == SteadyTime{} || now >= gifts_by + hopeless_for(of))
        gifts_by = now + 3 * between_looks(of);
}

void ShareCounter::note_silence(Duration time_to_live, SteadyTime now) {
    backoff = {};
    ask_after = now;
    note_failure(time_to_live, now);
}

void ShareCounter::note_failure(Duration time_to_live, SteadyTime now) {
    retry_pause = next_backoff(retry_pause, of, most_backoff(false, time_to_live));
    retry_after = now + retry_pause;
}

} // namespace stint::shared
