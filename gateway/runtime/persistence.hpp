// Keeps counts, leases and operators' changes over a restart: restores them from the state file,
// and writes their changes to the file.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/registry.hpp"
#include "locks/lock_manager.hpp"
#include "runtime/counter_writer.hpp"
#include "runtime/lease_writer.hpp"
#include "runtime/saved_changes.hpp"
#include "runtime/saved_rows.hpp"
#include "runtime/state_batch.hpp"
#include "runtime/state_file.hpp"
#include "state/store.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace stint::runtime {

// Owns the state file and the thread that writes it. From its construction on, every limit that the
// registry makes starts with its saved counts. If closed_on_start is set and the file does not show
// an orderly end of the last run, the limit also starts closed. The thread writes changed counters
// in rounds: twice a second, or back to back if a round takes longer. Workers never wait for a
// write, only for the lock of a shard while it is copied. A failure of the file is logged once and
// retried, and no function reports it.
//
// Leases are written as they are granted; leases granted during one transaction share the next. A
// client gets its lease once the lease is in the file (LockManager::kept()). A round of counters
// lets waiting leases go first between its transactions.
//
// Rounds save windows of at least `shortest` and all token buckets, because a bucket's debt may
// last longer than its `per`. finish() also saves shorter windows. Concurrency limits have no state
// to save.
class Persistence {
  public:
    static constexpr Duration shortest = CounterWriter::shortest;
    static constexpr Duration between_writes = std::chrono::milliseconds{500};

    // The key of the row with the secret key for hashing limit keys.
    static constexpr auto hash_key = "hash_key";

    // Reads the file, blocking. Construct it before the registry makes its first limit. registry,
    // locks: must outlive this object. handed: the state of the process that this one replaces, in
    // place of the file's.
    Persistence(
        const config::State& settings,
        limits::Registry& registry,
        locks::LockManager& locks,
        std::optional<StateFile::Contents> handed = {});
    // Calls finish().
    ~Persistence();
    Persistence(const Persistence&) = delete;
    Persistence& operator=(const Persistence&) = delete;

    // Writes all unsaved state and a mark for an orderly end, stops the thread and closes the file.
    // Call it when no limit is charged or refunded any more, and before the limits are destroyed.
    // Idempotent.
    void finish();

    // Undoes finish(): opens the file again, which another process may have written meanwhile, and
    // writes to it as before. Call it when no limit is charged.
    void go_on();
    // Adds the rows of counters that no limit has claimed.
    void add_unclaimed(std::vector<state::Row>& rows) const;

    // Returns the changes that operators had made in the last run. Call it once, after the
    // construction.
    [[nodiscard]] std::vector<SavedChange> take_saved_changes() {
        return std::move(saved_changes_);
    }
    // Writes the operators' changes to the file soon, in place of those in it. Thread: any.
    void save_changes(const std::vector<SavedChange>& changes);
    // Writes one change to the file soon; nullopt: erases it. loss: the log line if the write
    // fails. Thread: any.
    void save_change(
        const LimitChange::Target& target, std::optional<SavedChange> change, std::string loss);
    // Calls `then` once the changes so far are in the file, or an attempt to write them has failed;
    // at once if there is no file. Thread: any; `then` is called on this thread or on another,
    // under a lock.
    void await_changes(std::function<void()> then);
    // Returns the state of the operators' changes in the file: `any` is true if it lacks some of
    // them. Thread: any.
    [[nodiscard]] ChangeWriter::Unwritten unwritten_changes() { return changes_.unwritten(); }

    // True if new limits start closed.
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    // True if the file has every lease that was live at the end of the last run.
    [[nodiscard]] bool holders_known() const noexcept { return holders_known_; }

    // Keeps the mark "lock holders unknown" in the file until `time`, so that a process that
    // restarts before then treats them as unknown, too. No effect if holders_known(). Thread: any.
    void holders_known_from(SteadyTime time);

    // Metrics of the state file.
    struct Figures {
        std::uint64_t writes = 0;         // number of transactions
        std::uint64_t write_failures = 0; // includes failed attempts to open the file
        double last_write_seconds = 0;    // since the epoch; 0 means never
        double round_seconds = 0;         // duration of the last round of writes
    };
    // Returns nullopt if the settings name no state file.
    [[nodiscard]] std::optional<Figures> collect_metrics() const noexcept;

  private:
    // The keys of rows that are neither counters nor leases. ended: the last run ended in order.
    static constexpr auto ended = "ended";
    static constexpr auto unknown = "unknown"; // mark: the lock holders are unknown
    static constexpr auto boot = "boot";       // boot id of the system that wrote the file

    void erase_end_mark();
    void load();
    void load(StateFile::Contents handed);
    void replace_rows(StateFile::Contents contents);
    void start_thread();
    void stop_thread();
    void claim(limits::Limit& limit);
    [[nodiscard]] bool knows_holders(const std::vector<state::Row>& rows) const;

    void run();
    void note_changes_made();
    void end_attempt(std::uint64_t version);
    void tell_of_changes(bool last);
    void write_leases();
    void write_leases_meanwhile();
    void write(bool last);
    void try_to_write(bool last);
    void reopen(bool last);
    [[nodiscard]] bool write_changes(bool last);
    void introduce(StateBatch& batch);
    void note_known(const SavedClock& now, StateBatch& batch);
    [[nodiscard]] bool flush(StateBatch& batch);

    limits::Registry& registry_;
    locks::LockManager& locks_;
    const SavedClock started_;
    bool closed_ = false;        // new limits start closed; not changed after construction
    bool holders_known_ = false; // not changed after construction

    std::mutex mutex_;
    std::condition_variable woken_;
    SteadyTime known_from_ = SteadyTime::max(); // guarded by mutex_
    bool stopping_ = false;                     // guarded by mutex_
    bool leases_recorded_ = false;              // guarded by mutex_
    bool changes_made_ = false;                 // by operators; guarded by mutex_
    // Callers of await_changes(), by the version of the changes; guarded by mutex_.
    std::vector<std::pair<std::uint64_t, std::function<void()>>> waiting_for_changes_;

    // The members below are used by the constructor, then by the thread, then by finish(). Only
    // counters_.claim(), changes_ and the metrics of file_ are also used by other threads.
    StateFile file_; // an empty path means that nothing is saved
    CounterWriter counters_;
    LeaseWriter leases_;
    ChangeWriter changes_;
    std::vector<SavedChange> saved_changes_; // until take_saved_changes()
    bool introduced_ = false;                // the file has this process's hash_key and boot rows
    bool anew_ = false; // the file was reopened: the next transaction replaces its rows
    bool unknown_written_ = false;
    bool grace_over_ = false; // the wait after a start with unknown lock holders has ended

    std::atomic<std::int64_t> last_round_{0}; // duration of the last round, in ns
    std::thread thread_;
};

} // namespace stint::runtime
