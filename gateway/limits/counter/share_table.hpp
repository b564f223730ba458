// The shares that keys of one shard have of their limit's numbers, and how much each of these keys
// has used lately. No lock, no clock; the caller says which counters are live.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/algorithm/algorithm_ops.hpp"
#include "limits/share.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace stint::limits {

// Counts a key's admissions in the last `span`. The count is never too low. Two windows are enough,
// the newest one and the former one, because at most two windows of that length lie in a span.
// After a change of the wall clock several windows may share the former count. Other gateways get a
// unit when its use stops counting. So the newest window's admissions are counted in parts by their
// time, and each part stops counting by itself.
class RecentUse {
  public:
    // Adds admissions to a window. window: a number that no other window of the counter has.
    void add(std::int64_t window, std::uint64_t count, SteadyTime now, Duration span) noexcept;
    // Subtracts admissions that were given back, from the newest window only.
    void take_back(std::int64_t window, std::uint64_t count) noexcept;
    [[nodiscard]] std::uint64_t within(Duration span, SteadyTime now) const noexcept;

  private:
    static constexpr std::size_t parts = 8;
    static constexpr Duration length_of_part(Duration span) noexcept {
        return Duration{span.count() / static_cast<std::int64_t>(parts) + 1};
    }
    [[nodiscard]] std::uint64_t newest_within(Duration span, SteadyTime now) const noexcept;

    std::int64_t window_ = 0;
    std::array<std::uint64_t, parts> newest_{}; // counts; the last part lasts as long as the window
    SteadyTime first_{};                        // time of the newest window's first admission
    SteadyTime last_{};                         // and of its latest
    std::uint64_t former_ = 0;                  // count
    SteadyTime former_last_{};
};

class ShareTable {
  public:
    struct Entry {
        Share share;
        bool held = false; // false: the share has ended, but `used` still counts
        [[nodiscard]] const Share* held_share() const noexcept { return held ? &share : nullptr; }
        SteadyTime set_at{};
        ShareDemand demand;
        RecentUse used; // for fixed windows only

        // True if the share still counts. live: the key's counter is live.
        [[nodiscard]] bool holds(bool live, Duration per, SteadyTime now) const noexcept {
            return held && (share.until != SteadyTime::max() ? now < share.until
                                                             : live || now < set_at + per);
        }
    };

    [[nodiscard]] Entry* find(Hash128 key) noexcept;
    [[nodiscard]] const Entry* find(Hash128 key) const noexcept;
    // Returns the entry of the key; nullptr if there is no table, or none in it.
    [[nodiscard]] static const Entry*
    find_in(const std::unique_ptr<ShareTable>& table, Hash128 key) noexcept {
        return table != nullptr ? std::as_const(*table).find(key) : nullptr;
    }
    // Narrows the terms to the share of the entry (null: the key has none), or to the reserve.
    // False if there is neither.
    static bool narrow(
        ChargeTerms& terms, const Entry* entry, const SharePolicy& policy, SteadyTime now) noexcept;
    // Records that the key's share is too small for a charge of `cost` (ShareDemand, if the key has
    // an entry). Says in the refusal whether the store can be asked for more
    // (SharePolicy::lack()), and shortens its wait to Share::more_at.
    static void note_want(
        Verdict& verdict,
        const std::unique_ptr<ShareTable>& table,
        Hash128 key,
        std::uint64_t cost,
        const SharePolicy& policy,
        SteadyTime now) noexcept;
    // Finds the key's entry, or makes one without a share; nullptr if there is no room, or no
    // memory.
    struct Obtained {
        Entry* entry;
        bool made;
    };
    [[nodiscard]] Obtained obtain(Hash128 key) noexcept;
    // Ends a share. Returns the entry as long as its use still counts; otherwise drops the entry
    // and returns nullptr.
    Entry* end(Hash128 key, Entry& entry, Duration per, SteadyTime now) noexcept;
    // Sets the most keys. If there are that many, drops keys whose share and use are over. Such a
    // scan of all keys runs at most once in `between_sweeps`. live(key): true if the key's counter
    // is live.
    template <class Live>
    void make_room(std::size_t most, Duration per, SteadyTime now, Live live) noexcept {
        most_ = std::max(most, least);
        if (entries_.size() < most_ || now < next_sweep_)
            return;
        next_sweep_ = now + between_sweeps;
        boost::unordered::erase_if(entries_, [&](auto& each) {
            Entry& entry = each.second;
            entry.held = entry.holds(live(each.first), per, now);
            return !entry.held && entry.used.within(per, now) == 0;
        });
    }

    // Counts a charge among the key's use, or takes some of it back. Without effect if the key has
    // no entry.
    void note_use(Hash128 key, const Receipt& receipt, SteadyTime now, Duration per) noexcept;
    void take_back_use(Hash128 key, const Receipt& receipt, std::uint64_t cost) noexcept;

  private:
    struct Spread {
        using is_avalanching = void; // keys are hashes
        std::size_t operator()(Hash128 key) const noexcept {
            return static_cast<std::size_t>(key.low);
        }
    };
    static constexpr std::size_t least = 8;
    static constexpr Duration between_sweeps = std::chrono::milliseconds{100};

    boost::unordered_flat_map<Hash128, Entry, Spread> entries_;
    std::size_t most_ = least;
    SteadyTime next_sweep_{};
};

} // namespace stint::limits
