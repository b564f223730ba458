// The sharded counters behind one Limit. Internal to limits/: admission.cpp drives them. The
// algorithm defines what a cell means (algorithm_ops.hpp); Counters decides where a cell is and how
// long it stays.
#pragma once

#include "limits/algorithm/algorithm_ops.hpp"
#include "limits/algorithm/window.hpp"
#include "limits/counter/hold_time.hpp"
#include "limits/counter/saved.hpp"
#include "limits/counter/shards.hpp"
#include "limits/counter/share_table.hpp"
#include "limits/counter/tally.hpp"
#include "limits/decision.hpp"
#include "limits/limit.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace stint::limits {

// The result of check() for one charge, which charge() or cancel() completes. The shard stays
// locked from before check() until after either.
struct CounterRef {
    explicit CounterRef(Shard& of) noexcept : shard{&of} {}

    Shard* shard;
    CounterCell* slot = nullptr; // the key's cell; nullptr: it has none yet, or there is no room
    Counter* counter = nullptr;  // if `fresh`: the table's slot that charge() gives to the key
    CounterCell prepared;        // if `fresh`: the cell that charge() puts there
    bool fresh = false;
    bool reserved = false; // Counters::occupied_ counts the key's slot already
    bool overflow = false; // the key is counted in the shard's sketch
    bool share = false;    // the key has an entry in Shard::shares, or the limit has a reserve
};

class Counters {
  public:
    explicit Counters(const LimitSpec& spec);
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;

    [[nodiscard]] bool is_cap() const noexcept { return cap_; }
    // Finds the key's shard, or makes it. Throws std::bad_alloc.
    [[nodiscard]] Shard& shard_of(Hash128 key) { return shards_.of(key); }

    // Call with claim.shard locked. check() changes no count. A refused or cancelled claim leaves
    // no trace, except that the table may have grown and that a clock window whose time is over has
    // ended.
    [[nodiscard]] Verdict check(CounterRef& claim, const Charge& charge, const Now& now) noexcept;
    Receipt charge(const CounterRef& claim, const Charge& charge, const Now& now) noexcept;
    void cancel(CounterRef& claim) noexcept;
    // Returns the counter's state. Call after charge() or cancel(), with claim.shard still locked.
    [[nodiscard]] CounterState
    state(const CounterRef& claim, const Charge& charge, const Now& now) const noexcept;

    // Refunds `cost` to a window, or frees that many slots of a cap. Locks the shard. `now` is
    // ignored for a cap. Requires: the charge was made.
    void give_back(Hash128 key, Receipt& receipt, std::uint64_t cost, SteadyTime now) noexcept;
    [[nodiscard]] HoldTime& hold_time() noexcept { return hold_time_; }
    [[nodiscard]] Tally& tally() noexcept { return tally_; }

    void set_max_keys(std::uint64_t max_keys) noexcept {
        max_keys_.store(max_keys, std::memory_order_relaxed);
    }
    [[nodiscard]] CounterState state_of(const Charge& charge, const Now& now) const;
    [[nodiscard]] SteadyTime window_end(const Charge& charge, const Now& now) const;

    // Implement the members of Limit with the same names.
    [[nodiscard]] bool set_share(Hash128 key, const Share& share, const Now& now) noexcept;
    [[nodiscard]] SharePolicy& share_policy() noexcept { return shares_; }
    [[nodiscard]] KeyShare share(Hash128 key, const Now& now) const noexcept;
    [[nodiscard]] std::uint64_t use(const Charge& charge, const Now& now) const;
    [[nodiscard]] std::uint64_t live_keys(const Now& now) const;
    bool forget(std::optional<Hash128> key, const Now& now) noexcept;

    // Persistence, as the members of Limit with the same names; defined in counters_saved.cpp.
    void close(const Now& from) noexcept;
    [[nodiscard]] Shards& shards() noexcept { return shards_; }
    [[nodiscard]] std::uint64_t take_changed(std::size_t shard) noexcept;
    void mark_changed(std::size_t shard, std::uint64_t pages) noexcept;
    void
    save(std::size_t shard, std::uint64_t pages, const Now& now, std::vector<SavedPage>& to) const;
    bool restore(std::span<const RestoredPage> pages, const Now& now);
    [[nodiscard]] std::uint64_t in_flight(Limit::HeldSlots* by_key) const;

  private:
    static constexpr std::size_t pages_per_shard = 64; // as many as Shard::changed has bits

    // Returns the key of the charge's counter: zero if the limit has no key.
    [[nodiscard]] Hash128 counter_of(Hash128 key) const noexcept {
        return keyed_ ? key : Hash128{};
    }
    [[nodiscard]] ChargeTerms terms(const Shard& shard, const Charge& charge) const noexcept;
    // Shares, with the shard locked: counters_state.cpp.
    [[nodiscard]] const CounterCell*
    live_slot(const Shard& shard, Hash128 key, const Now& now) const noexcept;
    [[nodiscard]] bool counts(const Shard& shard, Hash128 key, const Now& now) const noexcept;
    [[nodiscard]] std::optional<Verdict> take_up_share(
        CounterRef& claim, const Charge& charge, ChargeTerms& terms, const Now& now) const noexcept;
    [[nodiscard]] Verdict find_place(
        CounterRef& claim, const Charge& charge, const ChargeTerms& terms, const Now& now) noexcept;
    [[nodiscard]] Verdict check_overflow(
        CounterRef& claim,
        const Charge& charge,
        const ChargeTerms& terms,
        const Now& now) const noexcept;
    [[nodiscard]] bool prepare_fresh(CounterRef& claim, const ChargeTerms& terms) const noexcept;
    // Counters that are paid off in time: counters_paid_off.cpp.
    [[nodiscard]] bool pays_off() const noexcept { return rules_.raise != nullptr; }
    void
    take_up_quota(const CounterRef& claim, Hash128 key, const ChargeTerms& terms, SteadyTime now)
        const noexcept;
    [[nodiscard]] CounterCell*
    returned_to(const Shard& shard, Hash128 key, SteadyTime now) const noexcept;
    [[nodiscard]] CounterCell*
    make_returned(Shard& shard, Hash128 key, std::int64_t until, SteadyTime now) const noexcept;
    void make_room_for_returned(Shard& shard, SteadyTime now) const noexcept;
    [[nodiscard]] std::int64_t spent_at(const Shard& shard, const CounterCell& slot) const noexcept;
    void observe(Shard& shard, const Now& now) noexcept;
    // Returns the stamps of live cells in a shard. live_stamps() requires observe(shard, now)
    // before; live_in() does not.
    [[nodiscard]] LiveStamps live_stamps(const Shard& shard, const Now& now) const noexcept;
    [[nodiscard]] LiveStamps live_in(const Shard& shard, const Now& now) const noexcept;

    // Room for new keys: reclaim.cpp.
    [[nodiscard]] Counter* slot_for(CounterRef& claim, Hash128 key, const Now& now) noexcept;
    [[nodiscard]] bool reserve_key() noexcept;
    [[nodiscard]] bool make_space(Shard& shard, const Now& now) noexcept;
    void reclaim(Shard& own, const Now& now) noexcept;
    void reclaim_elsewhere(const Shard& own, const Now& now) noexcept;
    [[nodiscard]] bool try_sweep(Shard& shard, const Now& now) noexcept;
    [[nodiscard]] bool has_room_for_key() const noexcept {
        return occupied_.load(std::memory_order_relaxed) <
               max_keys_.load(std::memory_order_relaxed);
    }
    void sweep(Shard& shard, const Now& now) noexcept;

    // Persistence: counters_saved.cpp.
    struct Source;
    // Returns the key's page, counted from 0 over all shards.
    [[nodiscard]] std::size_t page_of(Hash128 key) const noexcept {
        return keyed_ ? static_cast<std::size_t>(
                            (key.high >> 32) * shards_.count() * pages_per_shard >> 32)
                      : 0;
    }
    void note_change(Shard& shard, Hash128 key) const noexcept {
        const std::uint64_t pages = shard.changed.load(std::memory_order_relaxed);
        shard.changed.store(
            pages | std::uint64_t{1} << (page_of(key) % pages_per_shard),
            std::memory_order_relaxed);
    }
    [[nodiscard]] SteadyTime closed_until(const ChargeTerms& terms) const noexcept;
    void close(Verdict& verdict, const ChargeTerms& terms, SteadyTime now) const noexcept;
    void close(CounterState& state, const ChargeTerms& terms, SteadyTime now) const noexcept;
    [[nodiscard]] Source source_of(const RestoredPage& page) const;
    void choose_windows(std::vector<Source>& sources, const Now& now);
    [[nodiscard]] bool restore(Source& source, const Now& now);
    [[nodiscard]] bool put_back(Hash128 key, CounterCell& slot, const Now& now);

    [[nodiscard]] Duration
    room_estimate(const Shard& own, std::uint64_t quota, const Now& now) const noexcept;

    const Algorithm algorithm_;
    const AlgorithmOps& rules_;
    const bool cap_;
    const bool keyed_;
    const bool clocked_; // true: windows have Anchor::clock
    const Duration per_;
    const WallRuler ruler_; // used if clocked_
    SharePolicy shares_;    // begin() is called with the first share's shard locked
    SteadyTime closed_from_{};
    // The limit refuses everything before this instant; for a token bucket see closed_until().
    SteadyTime closed_until_{};
    Shards shards_;

    std::atomic<std::uint64_t> max_keys_;
    alignas(64) std::atomic<std::uint64_t> occupied_{0}; // slots of all shards that hold a key
    // When a new key finds no room, expired counters of other shards are erased, but not before
    // this instant (steady, ns): the last search has found that none of them expires earlier.
    std::atomic<std::int64_t> next_look_{0};
    alignas(64) Tally tally_;
    HoldTime hold_time_; // used by caps only
};

} // namespace stint::limits
