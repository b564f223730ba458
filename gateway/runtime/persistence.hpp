// Counts and leases that outlive the process: restores each limit and the locks from the state
// file, and writes changes to it.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/registry.hpp"
#include "locks/lock_manager.hpp"
#include "runtime/counter_writer.hpp"
#include "runtime/lease_writer.hpp"
#include "runtime/saved_rows.hpp"
#include "runtime/state_batch.hpp"
#include "runtime/state_file.hpp"
#include "state/store.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace stint::runtime {

// The writer of the state file. From its construction on, every limit that the registry makes
// begins with its saved counts, or closed, as the settings say. A thread of its own writes changes
// in rounds: twice a second, or back to back if they take longer. A count is in the file at most
// one round, and one transaction, after it was charged. Workers never wait for it, except for the
// lock of a shard that is being copied. Any failure of the file is logged once and retried: nothing
// here fails.
//
// Leases are written as they are granted, as many in one transaction as have come during the
// previous one: a caller gets its lease when it is in the file (LockManager::kept()). A round of
// counts makes way for them between its transactions.
//
// Saved are windows of at least `shortest`, and token buckets, which may have debts for longer than
// their `per`; at the end, windows and buckets of any length. Caps have no state to save.
class Persistence {
  public:
    static constexpr Duration shortest = CounterWriter::shortest;
    static constexpr Duration between_writes = std::chrono::milliseconds{500};

    // Reads the file, blocking. Construct it before the registry makes its first limit; both
    // outlive this.
    Persistence(
        const config::State& settings, limits::Registry& registry, locks::LockManager& locks);
    // Does the same as finish().
    ~Persistence();
    Persistence(const Persistence&) = delete;
    Persistence& operator=(const Persistence&) = delete;

    // Writes everything, and a mark that the process ended in order. Call it when nothing is
    // charged or refunded any more, and before the limits are destroyed, whose unsaved state would
    // be lost. Idempotent.
    void finish();

    // True if the file names the holders of all locks at the end of the last run.
    [[nodiscard]] bool holders_known() const noexcept { return holders_known_; }

    // Counts the holders as unknown until `time`, also in a run that starts before then. No effect
    // if they are known already. Thread: any.
    void holders_known_from(SteadyTime time);

    // Metrics. Thread: any.
    struct Figures {
        std::uint64_t writes = 0;         // transactions
        std::uint64_t write_failures = 0; // also attempts to open an unavailable file
        double last_write_seconds = 0;    // since the epoch; 0: never
        double round_seconds = 0;         // duration of the last round of writes
    };
    // Returns nothing if there is no file in the settings.
    [[nodiscard]] std::optional<Figures> collect_metrics() const noexcept;

  private:
    // The keys of Stint's own rows: the key of the keys' hashes, and the mark that the last run
    // ended in order.
    static constexpr auto hash_key = "hash_key";
    static constexpr auto ended = "ended";
    static constexpr auto unknown = "unknown"; // the lock holders are unknown
    static constexpr auto boot = "boot";       // the boot and machine it was written in

    void load();
    void claim(limits::Limit& limit);
    [[nodiscard]] bool knows_holders(const std::vector<state::Row>& rows) const;

    void run();
    void write_leases();
    void write_leases_meanwhile();
    void write(bool last);
    void reopen(bool last);
    [[nodiscard]] bool write_changes(bool last);
    void introduce(StateBatch& batch);
    void note_known(const SavedClock& now, StateBatch& batch);
    [[nodiscard]] bool flush(StateBatch& batch);

    limits::Registry& registry_;
    locks::LockManager& locks_;
    const SavedClock started_;
    bool closed_ = false;        // limits begin closed; not changed after construction
    bool holders_known_ = false; // the same

    std::mutex mutex_;
    std::condition_variable woken_;
    SteadyTime known_from_ = SteadyTime::max(); // with mutex_
    bool stopping_ = false;                     // with mutex_
    bool leases_recorded_ = false;              // with mutex_

    // State of the writer: the constructor, then the thread, then finish(). Exceptions are claims
    // of counters_ and the figures of file_.
    StateFile file_; // its path is empty: nothing is saved
    CounterWriter counters_;
    LeaseWriter leases_;
    bool introduced_ = false; // the file has this process's own rows
    bool anew_ = false;       // the file must lose the former process's rows when these are written
    bool unknown_written_ = false;
    bool grace_over_ = false; // after a start with unknown holders

    std::atomic<std::int64_t> last_round_{0}; // its length, ns
    std::thread thread_;
};

} // namespace stint::runtime
