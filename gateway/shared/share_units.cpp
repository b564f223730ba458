#include "shared/share_units.hpp"

#include <algorithm>
#include <chrono>

namespace stint::shared {
namespace {

using limits::Algorithm;
using limits::Numbers;

using namespace std::chrono_literals;

__extension__ using Product = unsigned __int128;

std::uint64_t burst_of(const Numbers& numbers) noexcept {
    return numbers.burst > 0 ? numbers.burst : numbers.quota;
}

bool has_burst(const SharedCounter& counter) noexcept {
    return counter.limit->identity().algorithm == Algorithm::token_bucket && !counter.pace;
}

} // namespace

std::uint64_t units_of(const SharedCounter& counter) noexcept {
    const Numbers& whole = counter.numbers;
    return has_burst(counter) ? std::min(whole.quota, burst_of(whole)) : whole.quota;
}

bool has_parts(const SharedCounter& counter) noexcept {
    return counter.limit->identity().algorithm == Algorithm::token_bucket;
}

std::uint64_t
parts_of(std::uint64_t units, std::uint64_t from, std::uint64_t number, bool up) noexcept {
    if (from == number || from == 0)
        return units;
    const Product parts = static_cast<Product>(units) * number + (up ? from - 1 : 0);
    return static_cast<std::uint64_t>(parts / from);
}

Numbers
numbers_of_units(const SharedCounter& counter, std::uint64_t units, std::uint64_t number) noexcept {
    if (!has_parts(counter))
        return {.quota = units, .burst = 0};
    const std::uint64_t all = std::max<std::uint64_t>(number, 1);
    const auto part = [&](std::uint64_t of) {
        return static_cast<std::uint64_t>(static_cast<Product>(of) * std::min(units, all) / all);
    };
    const Numbers numbers{
        .quota = part(counter.numbers.quota),
        .burst = has_burst(counter) ? part(burst_of(counter.numbers)) : 0};
    // A burst of 0 would mean the quota.
    return has_burst(counter) && numbers.burst == 0 ? Numbers{} : numbers;
}

std::uint64_t capacity_of_units(
    const SharedCounter& counter, std::uint64_t units, std::uint64_t number) noexcept {
    const Numbers numbers = numbers_of_units(counter, units, number);
    return has_parts(counter) ? burst_of(numbers) : numbers.quota;
}

std::uint64_t
units_for(const SharedCounter& counter, std::uint64_t cost, std::uint64_t number) noexcept {
    const std::uint64_t whole = capacity_of_units(counter, number, number);
    return has_parts(counter) ? parts_of(cost, whole, number, true) : cost;
}

limits::Charge charge_on(const SharedCounter& counter, const Numbers& numbers) noexcept {
    return {
        .limit = counter.limit.get(),
        .key = counter.key,
        .quota = numbers.quota,
        .burst = numbers.burst,
        .pace = counter.pace};
}

// A token bucket that is empty is full again after burst / quota of `per`, at least `per` here: its
// share is not handed over before its debt is paid off.
Duration span_of(const SharedCounter& counter, Duration time_to_live) noexcept {
    const limits::LimitIdentity& identity = counter.limit->identity();
    if (identity.algorithm == Algorithm::concurrency) {
        const limits::LeaseCover* const leases = leases_of(counter);
        return leases != nullptr ? leases->span() : Duration::zero();
    }
    Duration span = identity.per;
    if (has_burst(counter) && counter.numbers.quota > 0) {
        const auto filled = static_cast<double>(burst_of(counter.numbers)) /
                            static_cast<double>(counter.numbers.quota);
        span = std::max(span, std::chrono::duration_cast<Duration>(identity.per * filled));
    }
    return span * 11 / 10 + std::min<Duration>(std::chrono::milliseconds{250}, time_to_live / 4);
}

// The store's script adds a tenth and 250 ms to some spans, and to those of windows by the wall
// clock how far clocks may be apart (`apart`): 1.6 s at most.
Duration quiet_span_for(const SharedCounter& counter, Duration time_to_live) noexcept {
    const bool by_clock = counter.limit->identity().anchor == limits::Anchor::clock;
    return span_of(counter, time_to_live) * 11 / 10 + 250ms + (by_clock ? 1600ms : 0ms);
}

limits::LeaseCover* leases_of(const SharedCounter& counter) noexcept {
    limits::LeaseCover& leases = counter.limit->share_policy().leases();
    return leases.begun() ? &leases : nullptr;
}

std::int64_t window_of(const SharedCounter& counter, const Now& now) {
    if (counter.limit->identity().anchor != limits::Anchor::clock)
        return 0;
    const limits::LimitIdentity& identity = counter.limit->identity();
    const SteadyTime end = counter.limit->window_end(charge_on(counter, counter.numbers), now);
    const Duration wall = (now.wall + (end - now.steady)).time_since_epoch();
    // The two clocks differ a little in speed, so the end is rounded to where windows end: days,
    // weeks and months end with an hour (with a quarter of one in few zones).
    const Duration step = identity.time_zone.empty() ? identity.per : Duration{15min};
    return (wall + step / 2) / step;
}

} // namespace stint::shared
