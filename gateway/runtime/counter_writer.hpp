// Moves limits' counters between the limits and the state file.
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

// Records which pages of which limits are in the file, which of them no limit has claimed yet, and
// which rows are to be erased. Threads: claim(): any; the others: one at a time, that of the file.
class CounterWriter {
  public:
    // Windows of at least this, and token buckets, are saved in each round; others at the end.
    static constexpr Duration shortest = std::chrono::seconds{5};

    // registry: outlives this.
    explicit CounterWriter(limits::Registry& registry) : registry_{registry} {}

    // Keeps the rows until limits claim them. Call it before the registry makes its first limit.
    void keep_unclaimed(const std::vector<state::Row>& rows, const SavedClock& started);
    // Erases these rows, which cannot be read, with the next write.
    void drop(const std::vector<state::Row>& rows);
    // Returns the number of limits whose rows are kept.
    [[nodiscard]] std::size_t unclaimed() const;
    // Restores a new limit from its rows, if there are any. Thread: any.
    void claim(limits::Limit& limit);

    // Makes the next round write all pages and erase these rows: the memory has newer state.
    void begin_anew(const std::vector<state::Row>& rows);
    // Adds the rows that no limit has claimed.
    void add_unclaimed(StateBatch& batch);

    // Adds the changed pages of all limits. last: also of those that are saved at the end only.
    // When the batch is large, calls `flush`, which writes it and returns false to end the round.
    // Returns false if the round was ended.
    [[nodiscard]] bool add_changes(
        bool last, const SavedClock& now, StateBatch& batch, const std::function<bool()>& flush);
    // Erases, once a minute, rows that no limit has claimed and whose windows are over.
    void sweep_unclaimed(const SavedClock& now, StateBatch& batch);

    // The rows to be erased, as changes that come before all others of a transaction.
    [[nodiscard]] std::vector<state::Change> stale_rows() const;
    [[nodiscard]] bool has_stale_rows() const noexcept { return !stale_.empty(); }
    void forget_stale_rows() noexcept { stale_.clear(); }
    // Marks the rows that a failed transaction should have erased to be erased by the next one.
    void keep_stale_rows(std::vector<state::Change> failed);

  private:
    static constexpr Duration between_sweeps = std::chrono::minutes{1};

    // The pages in the file of one limit, or of former ones with the same identity.
    struct Written {
        std::weak_ptr<limits::Limit> limit;
        std::set<std::uint32_t> pages;
    };

    void adopt_claims();
    [[nodiscard]] bool
    add(const limits::LimitPtr& limit,
        const std::string& key,
        const SavedClock& now,
        StateBatch& batch,
        const std::function<bool()>& flush);
    void forget_others(const std::set<std::string>& alive, StateBatch& batch);

    limits::Registry& registry_;
    std::map<std::string, Written> written_; // by key_of()
    std::vector<std::string> stale_;         // rows to be erased
    SteadyTime next_sweep_{};
    mutable std::mutex mutex_;
    std::map<std::string, std::vector<KeptPage>> unclaimed_; // by key_of(); with mutex_
    std::map<std::string, std::set<std::uint32_t>> claimed_; // pages in the file; with mutex_
};

} // namespace stint::runtime
