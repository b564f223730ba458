// The part of a shared lock that its store has confirmed: how many slots the store counts for this
// gateway, and which fencing numbers this gateway may give out.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <mutex>
#include <optional>

namespace stint::limits {

// Thread-safe. A lease may be granted or renewed only while the store counts every slot that is in
// use here (covers()), for no longer than the store has heard that leases last (longest_lease()),
// and with a number of its own (next_fence()). Fencing numbers come in blocks: each block is above
// all that the store has given out before.
class LeaseCover {
  public:
    // The fencing numbers that one call of the store brings.
    static constexpr std::uint64_t block = 256;

    // --- the configuration ---
    // Says that the slots are a lock's. longest: the longest lease here; a shorter one than before
    // changes nothing, as longer leases may still live.
    void begin(std::uint64_t max, Duration longest) noexcept;
    [[nodiscard]] bool begun() const noexcept;
    [[nodiscard]] std::uint64_t max() const noexcept;
    // Says that so many slots are in use that no store counts yet: leases from before the lock was
    // shared.
    void report(std::uint64_t slots) noexcept;
    [[nodiscard]] bool has_report() const noexcept;

    // --- the store's client ---
    // Returns the reported slots once, then 0.
    [[nodiscard]] std::uint64_t take_report() noexcept;
    // Returns for how long a slot counts for the others after this gateway's session has ended: the
    // longest lease here, or that of another gateway that the store has told of.
    [[nodiscard]] Duration span() const noexcept;
    void note_span(Duration of_others) noexcept;
    // Sets the slots that the store counts for this gateway, and for how long it counts them. After
    // uncover() without effect until resume is true: the store counts no more than the lock has.
    void cover(std::uint64_t slots, Duration span, bool resume) noexcept;
    // Lowers the number of covered slots. Called before the store hears of fewer.
    void cover_at_most(std::uint64_t slots) noexcept;
    // Ends the cover, and forgets the fencing numbers: the slots may be others' by and by.
    void uncover() noexcept;
    // Takes a block of fencing numbers; the rest of the former one is forgotten.
    void add_fences(std::uint64_t first, std::uint64_t count) noexcept;
    // Forgets the block: another gateway may get a higher one.
    void drop_fences() noexcept;
    // Notes the highest number that the store has given out to any gateway.
    void note_fence(std::uint64_t highest) noexcept;
    // True if less than half a block is left.
    [[nodiscard]] bool runs_low() const noexcept;

    // --- grants ---
    [[nodiscard]] std::uint64_t covered() const noexcept;
    [[nodiscard]] bool covers(std::uint64_t in_use) const noexcept { return in_use <= covered(); }
    [[nodiscard]] Duration longest_lease() const noexcept;
    // Returns the next fencing number; nothing: the block is used up, or there is none.
    [[nodiscard]] std::optional<std::uint64_t> next_fence() noexcept;
    // True once for each block: less than half of it is left, so that the store is to be asked.
    [[nodiscard]] bool take_turn_to_ask() noexcept;
    // Returns the highest number that any gateway is known to have; 0: none.
    [[nodiscard]] std::uint64_t highest_fence() const noexcept;

  private:
    [[nodiscard]] bool low() const noexcept { return next_ + block / 2 > end_; }

    mutable std::mutex mutex_;
    bool begun_ = false;
    std::uint64_t max_ = 0;
    std::uint64_t reported_ = 0;
    Duration longest_{};        // the longest lease here
    Duration span_{};           // longest_, or more for another gateway
    Duration told_{};           // the span that the store has confirmed
    std::uint64_t covered_ = 0; // slots
    bool lost_ = true;          // uncover() was called last
    std::uint64_t next_ = 0;    // the next number of the block
    std::uint64_t end_ = 0;     // behind the block's last number
    bool asked_ = false;        // for a block after this one
    std::uint64_t highest_ = 0;
};

} // namespace stint::limits
