// Shares of a limit as units and as the limit's own numbers. Pure.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/decision.hpp"
#include "limits/limit.hpp"

#include <cstdint>

namespace stint::shared {

// A counter that gateways share.
struct SharedCounter {
    limits::LimitPtr limit;
    Hash128 key{};             // within the limit; ignored by a limit without a key
    limits::Numbers numbers{}; // the whole limit's; a token bucket's with its burst
    bool pace = false;
};

// Returns how many units the whole limit has: of a token bucket the lesser of quota and burst, so
// that a unit has a whole token of both; otherwise the quota.
[[nodiscard]] std::uint64_t units_of(const SharedCounter& counter) noexcept;
// True if a unit is a part of the whole limit: of a token bucket. Otherwise it is a request.
[[nodiscard]] bool has_parts(const SharedCounter& counter) noexcept;
// Returns so many of `from` parts as parts of another number, rounded down or up.
[[nodiscard]] std::uint64_t
parts_of(std::uint64_t units, std::uint64_t from, std::uint64_t number, bool up) noexcept;
// Returns the numbers of so many units, rounded down. number: how many units the whole limit has at
// the store; with another file than this gateway's, that is not units_of().
[[nodiscard]] limits::Numbers
numbers_of_units(const SharedCounter& counter, std::uint64_t units, std::uint64_t number) noexcept;
// Returns how much cost so many units admit at once.
[[nodiscard]] std::uint64_t
capacity_of_units(const SharedCounter& counter, std::uint64_t units, std::uint64_t number) noexcept;
// Returns the fewest units that admit so much cost at once.
[[nodiscard]] std::uint64_t
units_for(const SharedCounter& counter, std::uint64_t cost, std::uint64_t number) noexcept;
[[nodiscard]] limits::Charge
charge_on(const SharedCounter& counter, const limits::Numbers& numbers) noexcept;
// Returns the time after which nothing counts any more that was admitted before; zero for a cap.
// With a margin for clocks that differ in speed; a part of it is of the session's time to live,
// whose last third is no more used. Of a lock the longest lease, without a margin: a
// third of the session's time to live is one.
[[nodiscard]] Duration span_of(const SharedCounter& counter, Duration time_to_live) noexcept;
// Returns a quiet_span() of the session with which the store gives shares of the counter, whatever
// margins it adds to the span.
[[nodiscard]] Duration quiet_span_for(const SharedCounter& counter, Duration time_to_live) noexcept;
// Returns the leases of the lock that the counter's slots are; null if it is no lock.
[[nodiscard]] limits::LeaseCover* leases_of(const SharedCounter& counter) noexcept;
// Returns a number of the counter's open window that rises with time, and is the same in all
// gateways whose wall clocks agree; 0 unless the limit has Anchor::clock.
[[nodiscard]] std::int64_t window_of(const SharedCounter& counter, const Now& now);

} // namespace stint::shared
