// Max-min fair sharing of a window between owners that acquire without waiting: computes the part
// of the quota that is withheld from one owner because other owners may still come for their
// shares.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace stint::limits {

// Keeps no counters: ask()'s result goes into Charge::reserved_for_others, and the counter has the
// last word.
//  - An owner's expected demand is the cost that it asked for in the previous window, or in this
//    one if that is more, at most the quota. A request repeated after a refusal counts again.
//  - Shares are max-min fair: no share is below its owner's demand while another owner's is larger.
//    Units that do not divide evenly go, one by one, to the owners that have gone without such a
//    unit for longest: so owners take turns if they outnumber the quota.
//  - Of an owner's share, only the part that the owner may still ask for is withheld from others:
//    its demand times the rest of the window, rounded up, and nothing in the last 32nd. So the
//    whole window can be used, even if some owners stay away. If the window opened late, the time
//    since the previous window's end counts as past for owners that have not asked yet. Nothing is
//    withheld from an owner that is the only one, nor from any owner in the first window in which
//    several owners ask. Above `most_exact` owners of one counter all have equal shares, and no
//    turns are taken. Threads: any; one counter's asks are serialized, by a lock for each 16th of
//    the counters. Decisions that overlap may be slightly off; the counter still enforces the
//    quota. O(n) in the counter's owners: 50 ns with one, 0.6 us with 64, 9 us with 1,000 (-O3, one
//    thread). No clock.
class FairShares {
  public:
    static constexpr std::size_t most_counters = 10'000;
    static constexpr std::size_t most_owners = 1'000; // per counter
    static constexpr std::size_t most_exact = 64;
    static constexpr std::size_t most_owners_in_all = 100'000;

    struct Counter {
        std::uint64_t limit = 0; // Limit::ordinal()
        Hash128 key{};           // zero if the limit has no key

        friend bool operator==(const Counter&, const Counter&) = default;
    };
    // The window that is open, or that a charge made now would open: Limit::window_end().
    struct Window {
        SteadyTime end{};
        Duration length{}; // above zero
    };

    // Records that the owner asks for `cost`. Returns the part of the quota that is withheld from
    // it for other owners. An owner without room in the table has no share of its own.
    [[nodiscard]] std::uint64_t
    ask(const Counter& counter,
        Hash128 owner,
        std::uint64_t cost,
        std::uint64_t quota,
        const Window& window,
        SteadyTime now) noexcept;

    // Returns when an owner that was just refused `cost` would be admitted if no other owner asks
    // until then; at the earliest `from`, which is now or later. remaining: the rest of the quota
    // in the open window.
    [[nodiscard]] SteadyTime opens_at(
        const Counter& counter,
        Hash128 owner,
        std::uint64_t cost,
        std::uint64_t quota,
        std::uint64_t remaining,
        const Window& window,
        SteadyTime from) noexcept;

    // Records that the owner's last ask was admitted. end: the end of the window that counts it.
    void
    granted(const Counter& counter, Hash128 owner, std::uint64_t cost, SteadyTime end) noexcept;

  private:
    struct Owner {
        Hash128 name;
        std::uint64_t former = 0; // asked for in the previous window
        std::uint64_t asked = 0;  // asked for in this one
        std::uint64_t got = 0;
        std::uint64_t share = 0;
        std::uint64_t extra = 0; // serial of the last window in which it got more than level_

        [[nodiscard]] std::uint64_t demand(std::uint64_t quota) const noexcept;
    };

    // The owners of one counter.
    class OwnerTable {
      public:
        [[nodiscard]] std::uint64_t
        ask(Hash128 owner,
            std::uint64_t cost,
            std::uint64_t quota,
            const Window& window,
            SteadyTime now,
            bool room);
        [[nodiscard]] SteadyTime opens_at(
            Hash128 owner,
            std::uint64_t cost,
            std::uint64_t quota,
            std::uint64_t remaining,
            SteadyTime window_end,
            SteadyTime from) const noexcept;
        void granted(Hash128 owner, std::uint64_t cost, SteadyTime end) noexcept;
        [[nodiscard]] bool is_idle(SteadyTime now) const noexcept { return now >= end_ + length_; }
        [[nodiscard]] std::size_t size() const noexcept { return owners_.size(); }

      private:
        void turn_to(const Window& window, SteadyTime now) noexcept;
        [[nodiscard]] Owner* find(Hash128 owner) noexcept;
        void share_out(std::uint64_t quota) noexcept;
        [[nodiscard]] std::uint64_t
        kept_from(const Owner* asking, std::uint64_t quota, SteadyTime now) const noexcept;
        [[nodiscard]] std::uint64_t
        kept_in_next(Hash128 asking, std::uint64_t quota, SteadyTime now) const noexcept;

        std::vector<Owner> owners_;
        SteadyTime end_{};       // end of the window; the epoch: no window yet
        SteadyTime late_from_{}; // from then on nothing is withheld for owners that have not asked
        Duration length_{};
        std::uint64_t serial_ = 0; // serial number of the window
        std::uint64_t quota_ = 0;  // the quota that was shared out
        std::uint64_t level_ = 0;  // share of owners whose demand is not met
        bool stale_ = true;        // the shares are to be computed again
    };

    // Computes each owner's share in a window with that serial. level: the share of owners whose
    // demand is not met; unchanged if there are none, or more than most_exact owners.
    static void share_among(
        std::span<Owner> owners,
        std::uint64_t quota,
        std::uint64_t serial,
        std::uint64_t& level) noexcept;

    struct Spread {
        std::size_t operator()(const Counter& counter) const noexcept {
            return static_cast<std::size_t>(counter.key.low ^ counter.limit * 0x9e3779b97f4a7c15);
        }
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<Counter, OwnerTable, Spread> books;
        std::size_t owners = 0; // in all of `books`
        SteadyTime next_look{};
    };
    static constexpr std::size_t shard_count = 16;

    [[nodiscard]] Shard& shard_of(const Counter& counter) noexcept;
    // Finds or makes the owners of a counter; nullptr if there is no room. Call with the shard
    // locked.
    [[nodiscard]] static OwnerTable* book_of(Shard& shard, const Counter& counter, SteadyTime now);
    static void forget_idle(Shard& shard, SteadyTime now) noexcept;

    std::array<Shard, shard_count> shards_;
};

} // namespace stint::limits
