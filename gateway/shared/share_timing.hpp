// How often a gateway looks after its share of a counter, by the limit's `per`. Pure.
#pragma once

#include "base/time.hpp"
#include "shared/share_units.hpp"

#include <algorithm>
#include <chrono>

namespace stint::shared {

inline Duration per_of(const SharedCounter& counter) {
    return counter.limit->identity().per;
}

// Returns how long a want counts as demand that goes on. gap: between the latest two. Wants of a
// fixed window come at its end: those of the next one are the same demand.
inline Duration memory_of_wants(const SharedCounter& counter, Duration gap) {
    const bool fixed = counter.limit->identity().algorithm == limits::Algorithm::fixed_window;
    const Duration least = fixed ? per_of(counter) : per_of(counter) / 8;
    return std::clamp<Duration>(
        std::max(least, 2 * gap), std::chrono::milliseconds{10}, std::chrono::milliseconds{500});
}

// How long the least cost counts as that of a want that goes on: longer than the longest backoff,
// as wants of the same cost come no sooner.
constexpr Duration memory_of_costs = std::chrono::seconds{2};

// How long after a reply that brought nothing the store is asked again: twice as long each time, as
// others tell when they free something. What a gateway held that has died becomes free without a
// message: so no longer than a session's time to live, and less for a lock.
[[nodiscard]] inline Duration most_backoff(bool lock, Duration time_to_live) {
    using std::chrono::milliseconds;
    return std::min<Duration>(milliseconds{lock ? 250 : 1000}, time_to_live);
}
[[nodiscard]] inline Duration least_backoff(const SharedCounter& counter, Duration most) {
    return std::clamp<Duration>(per_of(counter) / 16, std::chrono::milliseconds{10}, most);
}
[[nodiscard]] inline Duration
next_backoff(Duration former, const SharedCounter& counter, Duration most) {
    return std::clamp<Duration>(2 * former, least_backoff(counter, most), most);
}

// How often the use of a share that others want is looked at, and others' messages are followed.
inline Duration between_looks(const SharedCounter& counter) {
    return std::clamp<Duration>(
        per_of(counter) / 64, std::chrono::milliseconds{2}, std::chrono::milliseconds{100});
}

// How often a share that is not used up follows what others want. Their requests wait for that:
// half of `timeout`, which is 10 ms by default.
inline Duration between_gifts(const SharedCounter& counter) {
    return std::min<Duration>(between_looks(counter), std::chrono::milliseconds{4});
}

// How long others are taken to use what they hold, after they were asked for it in vain.
inline Duration hopeless_for(const SharedCounter& counter) {
    return std::clamp<Duration>(
        per_of(counter) / 4, std::chrono::seconds{1}, std::chrono::minutes{1});
}

// How often it is looked at otherwise.
inline Duration between_idle_looks(const SharedCounter& counter) {
    return std::clamp<Duration>(
        per_of(counter) / 8, std::chrono::milliseconds{20}, std::chrono::seconds{5});
}

// How long without any use a share is given back.
inline Duration idle_after(const SharedCounter& counter) {
    return std::max<Duration>(per_of(counter), std::chrono::seconds{5});
}

} // namespace stint::shared
