// Saves the counters of limits in the state file, and restores them.
#pragma once

#include "base/time.hpp"
#include "limits/registry.hpp"
#include "runtime/saved_rows.hpp"
#include "runtime/state_batch.hpp"
#include "state/store.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace stint::runtime {

// Tracks the rows of the state file. A row holds one page of a limit's counters. Rows of the last
// run are unclaimed until a limit with the same identity is made. Threads: claim() and unclaimed()
// on any; all other functions on the thread that owns the state file.
class CounterWriter {
  public:
    // Windows of at least this length and all token buckets are saved in each round; shorter
    // windows only when the process ends.
    static constexpr Duration shortest = std::chrono::seconds{5};

    // registry: must outlive this object.
    explicit CounterWriter(limits::Registry& registry) : registry_{registry} {}

    // Keeps rows read from the file until limits claim them; marks unreadable and expired ones to
    // be erased. Call it before the registry makes its first limit. started: the time of this
    // start.
    void keep_unclaimed(const std::vector<state::Row>& rows, const SavedClock& started);
    // Marks rows for erasure by the next write, because they cannot be used.
    void drop(const std::vector<state::Row>& rows);
    // Returns the number of saved limits whose rows no limit has claimed yet.
    [[nodiscard]] std::size_t unclaimed() const;
    // Restores a new limit from its unclaimed rows, if there are any. Thread: any.
    void claim(limits::Limit& limit);

    // Makes the next round write all pages of all limits and then erase those of `rows` that it has
    // not written. They were read from a reopened file; the counters in memory are newer.
    void begin_anew(const std::vector<state::Row>& rows);
    // Adds to the batch the rows that no limit has claimed.
    void add_unclaimed(StateBatch& batch) const;

    // Adds the changed pages of all limits to the batch. last: includes windows shorter than
    // `shortest`. Calls `flush` to write the batch when it is large. If `flush` returns false, the
    // round ends and this function returns false. Each transaction ends with settle_written() or
    // settle_failed().
    [[nodiscard]] bool add_changes(
        bool last, const SavedClock& now, StateBatch& batch, const std::function<bool()>& flush);
    // Erases unclaimed rows whose windows have ended; at most once a minute, else it does nothing.
    void sweep_unclaimed(const SavedClock& now, StateBatch& batch);

    // Returns the erasures of all marked rows. Put them before all other changes of the
    // transaction.
    [[nodiscard]] std::vector<state::Change> stale_rows() const;
    [[nodiscard]] bool has_stale_rows() const noexcept { return !stale_.empty(); }
    // Ends a transaction that was written, or, with all its changes, one that has failed: the rows
    // that it was to erase are marked again.
    void settle_written() noexcept;
    void settle_failed(std::vector<state::Change> changes);

  private:
    static constexpr Duration between_sweeps = std::chrono::minutes{1};

    // Rows that the file has of one limit.
    struct Rows {
        std::set<std::uint32_t> pages;
        std::size_t shards = 0; // number of shards of the limits that wrote them; 0: several

        void add(std::uint32_t page, std::size_t shards_then);
        // Adds the other's rows, and clears them.
        void merge(Rows& other);
    };
    // The rows of a limit, and of earlier limits with the same identity.
    struct Written {
        std::weak_ptr<limits::Limit> limit;
        Rows own;              // saved from this limit
        Rows former;           // from earlier limits, or by the last run
        bool replaced = false; // the transaction has all that takes the place of `former`
    };

    void adopt_claims();
    void adopt_claim(const std::string& key, Written& written);
    [[nodiscard]] bool
    add(const limits::LimitPtr& limit,
        const std::string& key,
        const SavedClock& now,
        StateBatch& batch,
        const std::function<bool()>& flush);
    void forget_others(const std::set<std::string>& alive, StateBatch& batch);

    limits::Registry& registry_;
    std::map<std::string, Written, std::less<>> written_; // by key_of()
    std::vector<std::string> stale_;                      // keys of rows to be erased
    SteadyTime next_sweep_{};
    mutable std::mutex mutex_;
    std::map<std::string, std::vector<KeptPage>> unclaimed_; // by key_of(); guarded by mutex_
    std::map<std::string, Rows> claimed_;                    // by key_of(); guarded by mutex_
};

} // namespace stint::runtime
