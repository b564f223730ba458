// The sharded counters behind one Limit. Internal to limits/: admission.cpp drives it.
#pragma once

#include "limits/counter_table.hpp"
#include "limits/decision.hpp"
#include "limits/limit.hpp"
#include "limits/window.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

namespace stint::limits {

// Everything but next_sweep is guarded by `mutex`. A limit without a key needs the first cache line
// only: its counter is `window` (a cap's uses window.used). For a keyed limit under Anchor::clock
// `window` is the one that all keys of the shard share.
struct alignas(64) Shard {
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    std::mutex mutex;
    FixedWindow window;
    CounterTable table;
    std::int64_t serial = 0; // of `window`; the stamp of the counters that belong to it
    // Nothing in the table is spent before this instant (steady, ns): a lower bound that others may
    // read without the lock.
    std::atomic<std::int64_t> next_sweep{never};
};

// What check() found for one charge and charge() or cancel() completes. The shard stays locked from
// before check() until after either.
struct Claim {
    Shard* shard;
    Counter* counter; // of a keyed limit
    bool fresh;       // the counter's slot is still to be claimed
    bool reserved;    // counted in Counters::occupied_ already
};

struct Verdict {
    Refusal refusal = Refusal::none;
    Duration wait{}; // until it would be another
};

class Counters {
  public:
    explicit Counters(const LimitSpec& spec);

    [[nodiscard]] bool is_cap() const noexcept { return cap_; }
    [[nodiscard]] Shard& shard_of(Hash128 key) noexcept { return shards_[shard_index(key)]; }

    // With claim.shard locked. check() changes no count; a refused or cancelled claim leaves no
    // trace but a larger table and a clock window that time has ended.
    [[nodiscard]] Verdict check(Claim& claim, const Charge& charge, const Now& now) noexcept;
    void charge(const Claim& claim, Hash128 key, const Now& now) noexcept;
    void cancel(const Claim& claim) noexcept;

    // Frees one slot of a cap; locks.
    void release(Hash128 key) noexcept;
    void learn_hold(Duration held) noexcept;
    void count_refusal(Refusal refusal) noexcept;

    void set_max_keys(std::uint64_t max_keys) noexcept {
        max_keys_.store(max_keys, std::memory_order_relaxed);
    }
    [[nodiscard]] CounterState state_of(Hash128 key, const Now& now) const;
    [[nodiscard]] std::uint64_t live_keys(const Now& now) const;
    [[nodiscard]] std::uint64_t in_flight() const;
    [[nodiscard]] std::uint64_t refused() const noexcept {
        return refused_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t table_full() const noexcept {
        return table_full_.load(std::memory_order_relaxed);
    }

  private:
    [[nodiscard]] std::size_t shard_index(Hash128 key) const noexcept {
        return keyed_ ? static_cast<std::size_t>((key.high >> 32) * shard_count_ >> 32) : 0;
    }
    [[nodiscard]] Verdict check_single(Shard& shard, std::uint64_t quota, const Now& now) noexcept;
    [[nodiscard]] Verdict check_keyed(Claim& claim, const Charge& charge, const Now& now) noexcept;
    [[nodiscard]] Verdict
    judge(std::uint64_t used, std::uint64_t quota, SteadyTime end, const Now& now) const noexcept;
    [[nodiscard]] Duration hold_estimate(std::uint64_t quota) const noexcept;
    void observe(Shard& shard, const Now& now) noexcept;
    // What is live in a shard that has observed `now`; live_in() is right without that.
    [[nodiscard]] LiveStamps live_stamps(const Shard& shard, const Now& now) const noexcept;
    [[nodiscard]] LiveStamps live_in(const Shard& shard, const Now& now) const noexcept;

    // Room for new keys: reclaim.cpp.
    [[nodiscard]] Counter* slot_for(Claim& claim, Hash128 key, const Now& now) noexcept;
    [[nodiscard]] bool reserve_key() noexcept;
    [[nodiscard]] bool make_space(Shard& shard, const Now& now) noexcept;
    [[nodiscard]] std::size_t capacity_after(std::size_t capacity) const noexcept;
    void reclaim(Shard& own, const Now& now) noexcept;
    void reclaim_elsewhere(const Shard& own, const Now& now) noexcept;
    [[nodiscard]] bool try_sweep(Shard& shard, const Now& now) noexcept;
    [[nodiscard]] bool has_room_for_key() const noexcept {
        return occupied_.load(std::memory_order_relaxed) <
               max_keys_.load(std::memory_order_relaxed);
    }
    void sweep(Shard& shard, const Now& now) noexcept;
    [[nodiscard]] Duration
    room_estimate(const Shard& own, std::uint64_t quota, const Now& now) const noexcept;

    const bool cap_;
    const bool keyed_;
    const Anchor anchor_;
    const Duration per_;
    const std::size_t shard_count_;
    std::unique_ptr<Shard[]> shards_;

    std::atomic<std::uint64_t> max_keys_;
    alignas(64) std::atomic<std::uint64_t> occupied_{0}; // slots of all shards that hold a key
    // Before this instant (steady, ns) no other shard is worth a look; set when a look was in vain.
    std::atomic<std::int64_t> next_look_{0};
    alignas(64) std::atomic<std::uint64_t> refused_{0};
    std::atomic<std::uint64_t> table_full_{0};
    std::atomic<std::int64_t> mean_hold_{0}; // ns, moving average; 0 = no sample yet
};

} // namespace stint::limits
