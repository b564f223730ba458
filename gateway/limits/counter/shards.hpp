// The shards of one limit's counters. Each is made on first use: most limits count a few keys or
// none, and 256 empty shards would take 50 KiB.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/algorithm/algorithm_ops.hpp"
#include "limits/algorithm/window.hpp"
#include "limits/counter/backoff_mutex.hpp"
#include "limits/counter/counter_table.hpp"
#include "limits/counter/overflow.hpp"
#include "limits/counter/share_table.hpp"
#include "limits/forecast/past_windows.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

namespace stint::limits {

// The ends of a shard's last clock windows, by their serial numbers.
class ClockEnds {
  public:
    void note(std::int64_t serial, SteadyTime end) noexcept { ends_[place(serial)] = end; }
    // Returns the end of the window; the epoch if it was not noted. latest: the last serial that
    // has begun.
    [[nodiscard]] SteadyTime of(std::int64_t serial, std::int64_t latest) const noexcept {
        return latest - serial <= kept ? ends_[place(serial)] : SteadyTime{};
    }

  private:
    static constexpr std::int64_t kept = 32;
    static std::size_t place(std::int64_t serial) noexcept {
        return static_cast<std::size_t>(serial % kept);
    }
    std::array<SteadyTime, static_cast<std::size_t>(kept)> ends_{};
};

// A part of a limit's counters, with a lock of its own: `mutex` guards everything but next_sweep
// and changed. A limit without a key uses only the first cache line, and `clock` with
// Anchor::clock.
struct alignas(64) Shard {
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    BackoffMutex mutex;
    CounterCell single; // for a limit without a key
    // A bit for each page (see SavedPage) with counters that were charged or given back since the
    // page was saved. Written with `mutex` locked, in the same cache line.
    std::atomic<std::uint64_t> changed{0};
    ClockWindow clock;                     // Anchor::clock: the window of all counters in the shard
    std::unique_ptr<ClockEnds> clock_ends; // created when a window of `clock` is over
    CounterTable table;
    // Amounts given back to token buckets, by key (see ChargeTerms::returned). Created on first
    // use.
    std::unique_ptr<CounterTable> returned;
    SteadyTime next_sweep_of_returned{};
    std::uint32_t number = 0; // serial number in the limit, from 0
    bool lends = false;       // a refundable charge was made on a token bucket
    // Created on first use.
    std::unique_ptr<ShareTable> shares;
    // Counters of keys that had no room in the table when they came. Created on first use.
    std::unique_ptr<Overflow> overflow;
    // No counter in the table expires before this instant (steady, ns). A lower bound, which other
    // threads may read without the lock.
    std::atomic<std::int64_t> next_sweep{never};

    // Notes that a counter in the table expires at this instant (steady, ns).
    void expect_spent(std::int64_t instant) noexcept {
        if (instant < next_sweep.load(std::memory_order_relaxed))
            next_sweep.store(instant, std::memory_order_relaxed);
    }
};

// Threads: any. A shard that is made stays where it is until the destructor.
class Shards {
  public:
    static constexpr std::size_t most = 256;

    // count: from 1 to `most`. rules: of all counters. per: a window's length; zero: none.
    Shards(std::size_t count, const AlgorithmOps& rules, Duration per) noexcept
        : count_{count}, rules_{rules}, past_{rules.counted != nullptr ? per : Duration{}, count},
          slots_{count == 1 ? &only_ : none.data()} {}
    Shards(const Shards&) = delete;
    Shards& operator=(const Shards&) = delete;
    ~Shards();

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    // Return the shard of a key, or the shard of a number. Make it if it is missing. With a single
    // shard the key does not matter. Throw std::bad_alloc.
    [[nodiscard]] Shard& of(Hash128 key) { return at(number_of(key)); }
    [[nodiscard]] Shard& at(std::size_t number) {
        Shard* const known = made(number);
        if (known != nullptr) [[likely]]
            return *known;
        return make(number);
    }
    // Return nullptr if the shard is not made yet: nothing was ever counted in it.
    [[nodiscard]] Shard* made(std::size_t number) const noexcept {
        return slots_.load(std::memory_order_acquire)[number].load(std::memory_order_acquire);
    }
    [[nodiscard]] Shard* made_of(Hash128 key) const noexcept { return made(number_of(key)); }
    // Returns the key's shard. If it is not made, returns an empty one, which must not be changed.
    [[nodiscard]] Shard& for_reading(Hash128 key) const noexcept;
    // Calls visit(Shard&) for each shard that is made, in rising order of their numbers.
    template <class Visit>
    void visit_made(Visit visit) const {
        for (std::size_t number = 0; number < count_; ++number)
            if (Shard* const each = made(number))
                visit(*each);
    }

    // --- windows that are over; with the shard locked ---
    // Records the window of a cell that is about to be used anew or dropped.
    void retire(Shard& shard, Hash128 key, const CounterCell& cell) noexcept;
    // Records the window of Shard::single if it was over before `now`, once. Not for Anchor::clock.
    void retire_single(Shard& shard, SteadyTime now) noexcept {
        if (shard.single.stamp > now.time_since_epoch().count() || rules_.counted == nullptr)
            return;
        retire(shard, {}, shard.single);
        shard.single.stamp = retired;
    }
    // Notes that a clock window is over, before which Shard::clock stood at `former`.
    void end_window(Shard& shard, SteadyTime former, SteadyTime now) noexcept;
    // Erases the counters that are not live, after recording their windows.
    CounterTable::Swept sweep(Shard& shard, LiveStamps live) noexcept;
    // Returns when the cell's window ended or will end.
    [[nodiscard]] SteadyTime end_of(const Shard& shard, const CounterCell& cell) const noexcept;
    [[nodiscard]] const PastWindows& past() const noexcept { return past_; }
    [[nodiscard]] const AlgorithmOps& rules() const noexcept { return rules_; }

  private:
    using Slot = std::atomic<Shard*>;           // nullptr: not made yet
    static constexpr std::int64_t retired = -1; // stamp of a cell whose window was recorded

    [[nodiscard]] std::size_t number_of(Hash128 key) const noexcept {
        return static_cast<std::size_t>((key.high >> 32) * count_ >> 32);
    }
    [[nodiscard]] Shard& make(std::size_t number);
    [[nodiscard]] Slot& slot_for(std::size_t number);

    // Empty slots, which all limits with several shards use until they make a shard. Never written
    // to.
    static std::array<Slot, most> none;

    const std::size_t count_;
    const AlgorithmOps& rules_;
    PastWindows past_;
    Slot only_{nullptr};       // the slot of the only shard
    std::atomic<Slot*> slots_; // count_ of them
};

} // namespace stint::limits
