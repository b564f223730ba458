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
#include <utility>
#include <vector>

namespace stint::limits {

class Counters;
class DryRunTally;
class Tally;
class Reservations;
struct Past;
class AdmissionQueue;

// One limit. A keyed limit counts up to max_keys live keys exactly. While all of these are live,
// new keys are counted in a sketch, whose count of a key may be too high, never too low.
// Retry-After of a refusal is
//  - for a window, the time until it admits again; in the sketch, until enough of the counted
//    requests are over;
//  - for a cap, an estimate: while all of `quota` slots are taken, one is freed every mean hold
//    time / quota. The mean moves by an eighth towards each released slot's time. Before the first
//    release the estimate is 1 s. It is never less than 1 ms, nor than full_for();
//  - without memory for another key, the next instant at which a window may end (large tables are
//    searched at most 64 times in a window's length, and the instant allows for that); for a cap as
//    above.
class Limit : public std::enable_shared_from_this<Limit> {
  public:
    explicit Limit(const LimitSpec& spec);
    ~Limit();
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

    [[nodiscard]] const LimitIdentity& identity() const noexcept { return identity_; }
    // A serial number that rises with every Limit made in this process. admit() takes charges in
    // rising order of their ordinals, because it locks shards in this order.
    [[nodiscard]] std::uint64_t ordinal() const noexcept { return ordinal_; }
    [[nodiscard]] bool keyed() const noexcept { return !identity_.key.empty(); }

    // Sets the most live keys; applies from the next new key on. The number of shards, each with a
    // lock, stays as constructed. Thread-safe.
    void set_max_keys(std::uint64_t max_keys) noexcept;

    // --- shares: a key's numbers at run time, in every algorithm ---
    // Sets the share of a key (of the whole limit, if it has no key), which narrows the numbers of
    // every charge from now on. A larger share wakes waiters. If more than the new share is in use,
    // the limit refuses until enough of that is over. A cost above the share waits for a larger
    // share (Retry-After: until the counter is empty). Receipts, refunds and saved counts do not
    // change; shares are not saved. False, with nothing changed: the key has no share yet, and
    // there are max_keys shares or no memory. Thread-safe.
    bool set_share(Hash128 key, const Share& share, const Now& now) noexcept;
    // Returns the settings for all shares of the limit, such as the reserve of keys without a
    // share.
    [[nodiscard]] SharePolicy& share_policy() noexcept;
    // Returns the key's share, or the reserve, if there is one, and what requests have asked of the
    // key since it has had a share. Thread-safe; takes no lock while the limit never had a share.
    [[nodiscard]] KeyShare share(Hash128 key, const Now& now) const noexcept;

    // Returns how much of the key's admissions still counts against a share that is to be handed to
    // another gateway, or set anew: that much of the former share must not be used elsewhere yet.
    //  - Fixed windows: the admissions of the last `per`, the former window's included, since the
    //    key has had a share. Never too low; too high if a window's first admission is older than
    //    `per` and its last is not. Without a share: the open window's count.
    //  - Sliding windows: the admissions of the last `per`; exact up to 128 in a window.
    //  - Token buckets: the tokens owed. Nothing of the share may be handed over until these are no
    //    more than the smaller share's burst, and set_share() was called with that share again.
    //    `unknown_use` while a key without a counter of its own owes anything.
    //  - Caps: the slots held.
    // Refunds do not count. charge: gives the key and its numbers. Thread-safe.
    [[nodiscard]] std::uint64_t use(const Charge& charge, const Now& now) const;

    // From here on: live state. Each function is thread-safe; functions that scan all keys lock one
    // shard at a time. Returns the state of the counter that counts such a charge; charge.limit is
    // ignored.
    [[nodiscard]] CounterState state_of(const Charge& charge, const Now& now) const;
    // Returns the end of the fixed window that would count the charge, whether or not it is open
    // yet. While the limit is closed (see close()): the instant at which the limit opens.
    [[nodiscard]] SteadyTime window_end(const Charge& charge, const Now& now) const;
    [[nodiscard]] std::uint64_t live_keys(const Now& now) const; // 0 for a limit without a key
    // The slots of a cap that are held, by key (a zero key for a limit without one).
    struct HeldSlots {
        std::vector<std::pair<Hash128, std::uint64_t>> keys;
        bool complete = true; // false: the sketch counts others
    };
    // Returns the slots that are held, summed over the keys of a cap; else 0. by_key: null, or gets
    // them. Throws std::bad_alloc with by_key.
    [[nodiscard]] std::uint64_t in_flight(HeldSlots* by_key = nullptr) const;
    // Total of the refusals in which this limit had the longest wait.
    [[nodiscard]] std::uint64_t refused() const noexcept;
    // Totals, of the refusals for want of memory and of the admissions that the sketch counts, too.
    [[nodiscard]] const Tally& tally() const noexcept;
    // Admissions that this limit would not have made at once if it were enforced (dry run).
    [[nodiscard]] DryRunTally& dry_run() const noexcept;

    // Forgets the charges of a key, or without one, of all keys. Returns false and forgets nothing:
    //  - for a cap, whose counts are the slots held now;
    //  - for a key in the sketch, which has one count for several keys.
    // A key that leaves the table is counted in the sketch if that counts keys that collide with
    // it. Shares and slots in coming windows stay. A refund of a charge from before may lower the
    // new count, at most by that charge. Waiters are not woken. Thread-safe; locks one shard at a
    // time.
    bool forget(std::optional<Hash128> key, const Now& now) noexcept;

    // The slots in coming windows that are reserved for requests which this limit refused.
    [[nodiscard]] Reservations& reservations() const noexcept { return *reservations_; }

    // Returns how many requests wait for this limit in the AdmissionQueue.
    [[nodiscard]] std::uint64_t waiting() const noexcept {
        return waiting_.load(std::memory_order_relaxed);
    }
    // Adds requests that begin to wait for this limit (1) or cease to (-1). Called by CounterQueue
    // only.
    void add_waiting(std::int32_t change) noexcept {
        waiting_.fetch_add(static_cast<std::uint32_t>(change), std::memory_order_relaxed);
    }
    // True if a request waits for this limit, or is about to. Then new requests go to the
    // AdmissionQueue, and a thread that frees or refunds something calls notify_waiters(). No
    // wakeup is lost: either the waiter's attempt, under the shard's lock, sees what a thread gave
    // back under that lock, or this is true for that thread.
    [[nodiscard]] bool awaited() const noexcept {
        return awaited_.load(std::memory_order_relaxed) > 0;
    }
    // --- persistence; a cap persists nothing ---
    // Number of shards; each is saved on its own.
    [[nodiscard]] std::size_t shards() const noexcept;
    // Returns a bit for each of the shard's pages whose counters were charged or refunded since the
    // last call. Takes no lock if there are none. mark_changed() adds pages to the next result.
    [[nodiscard]] std::uint64_t take_changed(std::size_t shard) noexcept;
    void mark_changed(std::size_t shard, std::uint64_t pages) noexcept;
    // Appends these pages, as they are now, to `to`. Holds the shard's lock for some 0.1 us a key.
    // Leaves out keys counted in the sketch, and slots in coming windows. Throws std::bad_alloc.
    void
    save(std::size_t shard, std::uint64_t pages, const Now& now, std::vector<SavedPage>& to) const;
    // Restores all saved pages of a limit of the same identity. Counting goes on exactly, also with
    // another max_keys or quota. (After a wall clock set back past the end of a window without
    // counts, the next window may begin too early.) False: a part was malformed and left out.
    // Throws std::bad_alloc. Requires: the limit has no other user yet.
    bool restore(std::span<const RestoredPage> pages, const Now& now);
    // Closes a limit whose counts were lost at `from`: the limit refuses everything until the lost
    // admissions no longer count. That takes `per` for sliding windows and for
    // Anchor::first_request. With Anchor::clock it takes until the end of the window around `from`.
    // A token bucket takes the time to refill when empty, at least `per`. No effect on a cap.
    // Requires: the limit has no other user yet.
    void close(const Now& from) noexcept;

    // --- caps whose slots are held as a lock ---

    // The highest fencing number given to a holder of
    // the cap's slots; 0: none. The number is lost with the Limit. A caller that keeps numbers
    // longer, as over restarts, calls raise_fence() before the limit has any other user.
    [[nodiscard]] std::uint64_t fence() const noexcept {
        return fence_.load(std::memory_order_acquire);
    }
    // Raises the fence to at least `number`; a lower one changes nothing. Writes before the call
    // are visible to a reader that sees the number.
    void raise_fence(std::uint64_t number) noexcept;

    // Records that the holders from before the start keep `slots` slots taken until `end`. Takes no
    // slot itself. A refusal's retry_after then reaches at least to `end`, if `slots` is at least
    // the charge's quota (full_for()). Called before the limit is used.
    void keep_full_until(SteadyTime end, std::uint64_t slots) noexcept {
        former_slots_.store(slots, std::memory_order_relaxed);
        full_until_.store(end.time_since_epoch().count(), std::memory_order_relaxed);
    }
    // Returns how long keep_full_until() still keeps all of `quota` slots taken; zero if it does
    // not.
    [[nodiscard]] Duration full_for(std::uint64_t quota, SteadyTime now) const noexcept {
        const Duration left{
            full_until_.load(std::memory_order_relaxed) - now.time_since_epoch().count()};
        const bool full = quota <= former_slots_.load(std::memory_order_relaxed);
        return full && left > Duration::zero() ? left : Duration::zero();
    }

    // Wakes waiters of this key's counter after a slot was freed or a charge refunded. Call with no
    // shard locked.
    void notify_waiters(Hash128 key) noexcept {
        if (awaited()) [[unlikely]]
            wake_waiters(key);
    }

  private:
    friend class Admission;
    friend class Permit;
    friend class AdmissionQueue;
    friend Past past_of(const Limit& limit, const Numbers& numbers, const Now& now);

    void wake_waiters(Hash128 key) noexcept;

    const LimitIdentity identity_;
    const std::uint64_t ordinal_;
    std::unique_ptr<Counters> counters_;
    std::unique_ptr<Reservations> reservations_;
    std::atomic<std::uint32_t> awaited_{0}; // queued requests with a charge on this limit
    std::atomic<std::uint32_t> waiting_{0}; // requests in one of this limit's CounterQueues
    std::atomic<AdmissionQueue*> room_{nullptr};
    std::atomic<std::uint64_t> fence_{0};
    std::atomic<std::uint64_t> former_slots_{0};
    std::atomic<std::int64_t> full_until_{0}; // steady, ns
};

using LimitPtr = std::shared_ptr<Limit>;

// Returns the quota and burst that apply to the charge: its own, at most the key's share.
[[nodiscard]] Numbers numbers_of(const Charge& charge, const Now& now) noexcept;

// The most charges of one request.
inline constexpr std::size_t max_charges = 16;
// The most charges of most requests. Objects that live as long as a request have room for so many,
// and allocate memory for more.
inline constexpr std::size_t few_charges = 2;

// Admits a request: charges every limit or none. If an enforced limit refuses, no window is charged
// and no slot is taken. A limit that is not enforced never refuses, and is charged only if it has
// room (see Decision::would_refuse). states: empty, or room for one per charge; receives each
// counter's state after the decision.
// Requires: charges in strictly rising order of limit->ordinal(), at most max_charges of them.
// Threads: any; exact under any interleaving. No I/O, no clock. Under the locks there is only
// arithmetic, and at times a keyed limit's table grows or gets its next shard. Throws
// std::bad_alloc, with nothing changed, only without memory for such a shard, or for a request with
// more caps and refundable charges than a Permit has inline room for.
[[nodiscard]] Decision
admit(std::span<const Charge> charges, const Now& now, std::span<ChargeState> states = {});

// Like admit(), for a request that may wait: a refusal does not count in Limit::refused() until
// count_refusal() is called.
[[nodiscard]] Decision
try_admit(std::span<const Charge> charges, const Now& now, std::span<ChargeState> states = {});
void count_refusal(std::span<const Charge> charges, const Decision& decision) noexcept;
// Decides like admit(), but charges and counts nothing: the permit is empty, and `states` gets the
// counters' present states. states has room for one per charge. Otherwise as admit().
[[nodiscard]] Decision
preview(std::span<const Charge> charges, const Now& now, std::span<ChargeState> states);
// True if the limit, were it enforced, would let the charge wait: it has no room now, and has room
// within max_wait if no other request takes that room. For a cap the wait is an estimate. Changes
// nothing. charge: refused by its limit a moment ago. Otherwise as preview().
[[nodiscard]] bool would_wait(const Charge& charge, Duration max_wait, const Now& now);
// True if waiting can help: false if the request costs more than an enforced limit ever admits.
// Otherwise as preview().
[[nodiscard]] bool affordable(std::span<const Charge> charges, const Now& now);

} // namespace stint::limits
