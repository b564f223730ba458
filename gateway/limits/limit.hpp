// The state behind one limit: its counters, which every worker uses, kept across reloads.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/counter/saved.hpp"
#include "limits/decision.hpp"
#include "limits/share.hpp"
#include "limits/spec.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace stint::limits {

class Counters;
class Reservations;
class AdmissionQueue;

// A keyed limit holds at most max_keys live keys, exactly counted. When all of them are live, new
// keys are counted in a sketch, which may say more of a key than there was, never less. Retry-After
// of a refusal is
//  - for a window until it admits again; in the sketch, until enough of what it counts is over;
//  - for a cap an estimate: with all of `quota` slots taken one is freed every mean hold time /
//    quota. The mean moves by an eighth towards each released slot's time; before the first one it
//    counts as 1 s for the whole cap; never less than 1 ms, nor than full_for();
//  - without memory for another key the next instant at which a window may end (large tables are
//    looked through at most 64 times in a window's length, and the instant allows for that); for a
//    cap as above.
class Limit : public std::enable_shared_from_this<Limit> {
  public:
    explicit Limit(const LimitSpec& spec);
    ~Limit();
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

    [[nodiscard]] const LimitIdentity& identity() const noexcept { return identity_; }
    // Rises with every Limit made in this process. Charges are given to admit() in rising order:
    // that is the order in which the shards are locked.
    [[nodiscard]] std::uint64_t ordinal() const noexcept { return ordinal_; }
    [[nodiscard]] bool keyed() const noexcept { return !identity_.key.empty(); }

    // Takes effect for the next new key. Thread-safe. How many locks the table is spread over was
    // decided by the number at construction.
    void set_max_keys(std::uint64_t max_keys) noexcept;

    // --- shares: a key's numbers at run time, in every algorithm ---
    // Sets the share of a key (without one: of the limit), which narrows the numbers of every
    // charge from now on; a larger one wakes waiters. A smaller one than is in use refuses until
    // enough has left; a cost above it waits for a larger one (Retry-After: until the counter has
    // nothing left). A receipt, a refund and the saved counts stay what they are; shares are not
    // saved. False, with nothing changed: the key has none, and there are max_keys of them or no
    // memory. Thread-safe.
    bool set_share(Hash128 key, const Share& share, const Now& now) noexcept;
    // Returns the key's share; nothing where it has none. Thread-safe, without a lock where the
    // limit never had shares.
    [[nodiscard]] std::optional<Numbers> share(Hash128 key, const Now& now) const noexcept;
    // Returns the numbers that such a charge meets: its own, and no more than the key's share.
    [[nodiscard]] Numbers numbers_of(const Charge& charge, const Now& now) const noexcept;

    // Returns how much of the key's admissions stands against a share that it would give away, or
    // be given anew: that much less of the former one may be used elsewhere now.
    //  - Fixed windows: what was admitted in the last `per`, the former window's included, since
    //  the
    //    key has had a share; never less, and more where a window's first admission is older than
    //    that and its last is not. Without a share: what the open window counts.
    //  - Sliding windows: what was admitted in the last `per`; exact up to 128 in a window.
    //  - Token buckets: the tokens that it owes. Nothing is free to be given away until that is no
    //    more than the smaller share holds, and set_share() was called with it again.
    //  - Caps: the slots that are held.
    // What was given back does not count. charge: its numbers and its key. Thread-safe.
    [[nodiscard]] std::uint64_t use(const Charge& charge, const Now& now) const;

    // Live state, each thread-safe; the scans lock one shard at a time.
    // Returns the state of the counter that such a charge would go to; charge.limit is ignored.
    [[nodiscard]] CounterState state_of(const Charge& charge, const Now& now) const;
    // Returns the end of the fixed window, open or not, that would count such a charge. While the
    // limit is closed: the instant at which it opens.
    [[nodiscard]] SteadyTime window_end(const Charge& charge, const Now& now) const;
    [[nodiscard]] std::uint64_t live_keys(const Now& now) const; // 0 without a key
    [[nodiscard]] std::uint64_t in_flight() const; // summed over the keys of a cap, else 0
    // Admissions refused, ever, where this limit was the one to wait for longest.
    [[nodiscard]] std::uint64_t refused() const noexcept;
    [[nodiscard]] std::uint64_t table_full() const noexcept; // refusals for want of memory
    // Admissions counted in the sketch, as the table was full.
    [[nodiscard]] std::uint64_t overflowed() const noexcept;
    // Admissions that it would have refused, had it been enforced.
    [[nodiscard]] std::uint64_t would_refuse() const noexcept;

    // The slots promised to requests that it refused.
    [[nodiscard]] Reservations& reservations() const noexcept { return *reservations_; }

    // Returns how many requests wait for it in the AdmissionQueue.
    [[nodiscard]] std::uint64_t waiting() const noexcept {
        return waiting_.load(std::memory_order_relaxed);
    }
    // Counts one more, or one less; CounterQueue's.
    void begin_wait() noexcept { waiting_.fetch_add(1, std::memory_order_relaxed); }
    void end_wait() noexcept { waiting_.fetch_sub(1, std::memory_order_relaxed); }
    // True if a request waits, or is about to: newcomers then go to the AdmissionQueue, and a
    // thread that gives something back notifies it (notify_waiters). What a thread gave back under
    // a shard's lock is seen by the waiter's attempt under that lock, or else this is true for the
    // thread.
    [[nodiscard]] bool awaited() const noexcept {
        return awaited_.load(std::memory_order_relaxed) > 0;
    }
    // --- persistence; a cap persists nothing ---
    // Number of shards; each is saved on its own.
    [[nodiscard]] std::size_t shards() const noexcept;
    // Returns the shard's pages whose counters were charged or given back since the last call, a
    // bit each; takes no lock where there are none. mark_changed(): the next call returns these
    // pages, too.
    [[nodiscard]] std::uint64_t take_changed(std::size_t shard) noexcept;
    void mark_changed(std::size_t shard, std::uint64_t pages) noexcept;
    // Saves these pages as they are now, under the shard's lock for some 0.1 us a key. Leaves out:
    // keys counted in the sketch, slots in coming windows. Throws std::bad_alloc.
    void
    save(std::size_t shard, std::uint64_t pages, const Now& now, std::vector<SavedPage>& to) const;
    // Restores all of these pages of a limit of this identity and goes on counting: exactly, for
    // whatever max_keys and quotas (where the wall clock is set back over the end of a window in
    // which nothing was counted, one that it opens anew may begin before it would have). False:
    // some of it is nonsense and was left out. Throws std::bad_alloc. Requires: the limit has no
    // other user yet.
    bool restore(std::span<const RestoredPage> pages, const Now& now);
    // Closes a limit whose counts were lost at `from`: it admits nothing until no client can have
    // had more than it allows. For windows of their own and sliding ones that takes `per`, for
    // Anchor::clock until the end of the window that `from` lies in, for a token bucket the time to
    // refill an empty one, at least `per`. Without effect on a cap. Requires: as restore().
    void close(const Now& from) noexcept;

    // --- caps whose slots are held as a lock ---
    // The highest fence given to a holder of its slots; 0: none. It lives as long as the Limit
    // does: a caller whose fences live longer raises it once, before the limit has any other user.
    [[nodiscard]] std::uint64_t fence() const noexcept {
        return fence_.load(std::memory_order_acquire);
    }
    // Raises the fence to at least `number`; a lower one changes nothing. Writes before the call
    // are visible to a reader that sees the number.
    void raise_fence(std::uint64_t number) noexcept;

    // Reserves `slots` slots until `end` for the holders from before the start. Called before the
    // limit is used.
    void keep_full_until(SteadyTime end, std::uint64_t slots) noexcept {
        former_slots_.store(slots, std::memory_order_relaxed);
        full_until_.store(end.time_since_epoch().count(), std::memory_order_relaxed);
    }
    // Returns for how long keep_full_until() keeps all of `quota` slots taken; zero: it does not.
    [[nodiscard]] Duration full_for(std::uint64_t quota, SteadyTime now) const noexcept {
        const Duration left{
            full_until_.load(std::memory_order_relaxed) - now.time_since_epoch().count()};
        const bool full = quota <= former_slots_.load(std::memory_order_relaxed);
        return full && left > Duration::zero() ? left : Duration::zero();
    }

    // Wakes waiters of this key's counter after a give-back. Call with no shard locked.
    void notify_waiters(Hash128 key) noexcept {
        if (awaited()) [[unlikely]]
            wake_waiters(key);
    }

  private:
    friend class Admission;
    friend class Permit;
    friend class AdmissionQueue;

    void wake_waiters(Hash128 key) noexcept;

    const LimitIdentity identity_;
    const std::uint64_t ordinal_;
    std::unique_ptr<Counters> counters_;
    std::unique_ptr<Reservations> reservations_;
    std::atomic<std::uint32_t> awaited_{0}; // requests in the AdmissionQueue that may wait for it
    std::atomic<std::uint32_t> waiting_{0}; // those of them that stand in one of its queues
    std::atomic<AdmissionQueue*> room_{nullptr};
    std::atomic<std::uint64_t> fence_{0};
    std::atomic<std::uint64_t> former_slots_{0};
    std::atomic<std::int64_t> full_until_{0}; // steady, ns
};

using LimitPtr = std::shared_ptr<Limit>;

// Charges every limit or none: if one that is enforced refuses, no window is charged and no slot
// taken. Of those that are not, each is charged if it has room (see Decision::would_refuse).
// states: empty, or room for as many as there are charges, to be filled with what each counter is
// after the decision.
// Requires: charges in strictly rising order of limit->ordinal(), at most max_charges of them.
// Threads: any; exact under any interleaving. No I/O, no clock; the time under the locks is
// arithmetic, but for a keyed limit's table that grows. Throws std::bad_alloc, with nothing
// changed, only for a request with more caps and refundable charges than a Permit has inline room
// for.
inline constexpr std::size_t max_charges = 16;
[[nodiscard]] Decision
admit(std::span<const Charge> charges, const Now& now, std::span<ChargeState> states = {});

// Admits a request that may wait: a refusal is not counted among Limit::refused() until
// count_refusal() says that it is one.
[[nodiscard]] Decision
try_admit(std::span<const Charge> charges, const Now& now, std::span<ChargeState> states = {});
void count_refusal(std::span<const Charge> charges, const Decision& decision) noexcept;
// Decides like admit(), but charges and counts nothing: the permit is empty, and states are as they
// stay. states has room for as many as there are charges. Otherwise as admit().
[[nodiscard]] Decision
preview(std::span<const Charge> charges, const Now& now, std::span<ChargeState> states);
// True if waiting can help: false if an enforced limit never has what the request costs. Otherwise
// as preview().
[[nodiscard]] bool affordable(std::span<const Charge> charges, const Now& now);

} // namespace stint::limits
