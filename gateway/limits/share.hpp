// A share: the part of a limit's quota for one key that this process may use, while other gateways
// use the rest.
#pragma once

#include "base/time.hpp"
#include "limits/decision.hpp"
#include "limits/shared/lease_cover.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace stint::limits {

// More than any limit's number: how much of a key's share counts is not known.
inline constexpr std::uint64_t unknown_use = std::uint64_t{1} << 62;

// The share of one key. A charge is admitted by its own numbers or by the share's, whichever are
// lower. A `burst` of 0 means the quota. A quota of 0 admits nothing.
struct Share {
    Numbers numbers;
    // The share ends at this instant; then the charge's own numbers apply again. With
    // SteadyTime::max() it ends when the key's counter counts nothing any more, but not within
    // `per` after it was set. A cap's share with SteadyTime::max() never ends.
    SteadyTime until = SteadyTime::max();
    // Before this instant the store has no more for the key: no request waits for its answer.
    SteadyTime ask_after{};
    // At this instant, if it is to come, the share may have grown, as others were asked for a part.
    SteadyTime more_at{};
};

// Tells whether a charge was refused because of its key's share, and what the store can do.
enum class ShareLack : std::uint8_t {
    none,     // the limit's own numbers refuse
    told,     // the share is too small, and the store has said that there is no more for now
    ask,      // the share is too small, and the store may have more
    no_store, // the share is too small, and the store cannot be asked now
};

// The demand on a key that has had a share.
struct ShareDemand {
    SteadyTime wanted_at{}; // the latest refusal because the share is too small, also of a dry run
    std::uint64_t cost = 0; // that refusal's charge
    Numbers whole{};        // the latest charge's own numbers; a quota of 0: none yet
};

// The share of a key as it counts now.
struct KeyShare {
    std::optional<Numbers> numbers{}; // the key's share, or the reserve, if there is one
    ShareDemand demand{};
};

// The settings that apply to all shares of a limit. Thread-safe but for reserve_without_share().
class SharePolicy {
  public:
    // True once any key may have a share, or the limit has a reserve.
    [[nodiscard]] bool begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
    void begin() noexcept { begun_.store(true, std::memory_order_relaxed); }

    // Gives every key without a share this reserve as its share; a quota of 0 admits nothing. Call
    // before the limit has any other user.
    void reserve_without_share(const Numbers& reserve) noexcept {
        reserve_ = reserve;
        begin();
    }
    // Sets whether the store can be asked for a larger share.
    void set_asking(bool asking) noexcept { asking_.store(asking, std::memory_order_relaxed); }
    [[nodiscard]] bool asking() const noexcept { return asking_.load(std::memory_order_relaxed); }
    // Returns why a share refuses. share: null if the key has none.
    [[nodiscard]] ShareLack lack(const Share* share, SteadyTime now) const noexcept {
        if (!asking())
            return ShareLack::no_store;
        return share != nullptr && now < share->ask_after ? ShareLack::told : ShareLack::ask;
    }
    // Ends all shares at this instant: every key then has the reserve only. A later end brings them
    // back. Requires: reserve_without_share().
    void end_at(SteadyTime end) noexcept {
        end_.store(end.time_since_epoch().count(), std::memory_order_relaxed);
    }

    [[nodiscard]] bool ended(SteadyTime now) const noexcept {
        return now.time_since_epoch().count() >= end_.load(std::memory_order_relaxed);
    }

    // Returns the key's share, else the reserve, if there is one. share: null if the key has none.
    [[nodiscard]] std::optional<Numbers>
    numbers(const Share* share, SteadyTime now) const noexcept {
        return share != nullptr && !ended(now) ? std::optional{share->numbers} : reserve_;
    }

    // The leases of a cap whose slots are a lock's (LeaseCover::begun()).
    [[nodiscard]] LeaseCover& leases() noexcept { return leases_; }

  private:
    std::atomic<bool> begun_{false};
    std::atomic<bool> asking_{false};
    std::optional<Numbers> reserve_;
    std::atomic<std::int64_t> end_{std::numeric_limits<std::int64_t>::max()}; // steady, ns
    LeaseCover leases_;
};

} // namespace stint::limits
