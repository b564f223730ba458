// Counts and leases that outlive the process: restores each limit and the locks from the state
// file, and writes changes to it.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/registry.hpp"
#include "locks/lock_manager.hpp"
#include "runtime/saved_rows.hpp"
#include "state/store.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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
    static constexpr Duration shortest = std::chrono::seconds{5};
    static constexpr Duration between_writes = std::chrono::milliseconds{500};

    // Reads the file, blocking. Construct it before the registry makes its first limit; both
    // outlive this.
    Persistence(
        const config::State& settings, limits::Registry& registry, locks::LockManager& locks);
    // Does the same as finish().
    ~Persistence();
    Persistence(const Persistence&) = delete;
    Persistence& operator=(const Persistence&) = delete;

    // Ends in order: writes everything, and a mark that it is everything. Call it when nothing is
    // charged or refunded any more, and before the limits are destroyed: their unsaved state ends
    // with them. Idempotent.
    void finish();

    // True if the holders of all locks at the end of the last run are known.
    [[nodiscard]] bool holders_known() const noexcept { return holders_known_; }

    // Keeps the holders unknown until `time`, also for a run after this one. No effect if they are
    // known already. Thread: any.
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
    using Store = state::Store;

    // The tables of the file, and the keys of Stint's own rows: the key of the keys' hashes, and
    // the mark that the last run ended in order.
    static constexpr auto counters = "counters";
    static constexpr auto leases = "leases";
    static constexpr auto own = "stint";
    static constexpr auto hash_key = "hash_key";
    static constexpr auto ended = "ended";
    static constexpr auto unknown = "unknown"; // the lock holders are unknown
    static constexpr auto boot = "boot";       // the boot and machine it was written in
    static constexpr auto fence = "fence";     // the highest fencing number given
    static constexpr Duration between_openings = std::chrono::seconds{5};
    static constexpr Duration between_sweeps = std::chrono::minutes{1};

    struct Contents {
        std::vector<state::Row> own; // Stint's rows, not limits'
        std::vector<state::Row> counters;
        std::vector<state::Row> leases;
        bool in_place_of_another = false; // replaces a broken file
    };
    // The pages in the file of one limit, or of former ones with the same identity.
    struct Written {
        std::weak_ptr<limits::Limit> limit;
        std::set<std::uint32_t> pages;
    };
    struct Batch;

    void load();
    [[nodiscard]] std::optional<Contents> open();
    [[nodiscard]] std::optional<state::Failure> try_open(Contents& contents);
    [[nodiscard]] bool move_aside(const state::Failure& failure);
    void keep_unclaimed(const std::vector<state::Row>& rows);
    void claim(limits::Limit& limit);

    [[nodiscard]] bool knows_holders(const std::vector<state::Row>& rows) const;
    void restore_leases(const Contents& contents);
    void write_leases();
    void write_leases_meanwhile();
    [[nodiscard]] bool try_write(const locks::LockManager::Records& records);
    [[nodiscard]] static std::vector<state::Change>
    changes_of(const locks::LockManager::Records& records);
    void introduce_leases(Batch& batch);
    void settle_introduced(bool done);
    void note_known(const SavedClock& now, Batch& batch);
    void note_failed(const state::Failure& failure);

    void run();
    void write(bool last);
    void reopen(bool last);
    [[nodiscard]] bool write_changes(bool last);
    void introduce(Batch& batch);
    void adopt_claims();
    [[nodiscard]] bool
    add(const limits::LimitPtr& limit, const std::string& key, const SavedClock& now, Batch& batch);
    void forget_others(const std::set<std::string>& alive, Batch& batch);
    void sweep_unclaimed(const SavedClock& now, Batch& batch);
    [[nodiscard]] bool flush(Batch& batch);
    void note_failure(const std::string& why);

    const std::filesystem::path file_; // empty: nothing is saved
    limits::Registry& registry_;
    locks::LockManager& locks_;
    const SavedClock started_;
    bool closed_ = false;        // limits begin closed; not changed after construction
    bool holders_known_ = false; // the same

    std::mutex mutex_;
    std::condition_variable woken_;
    SteadyTime known_from_ = SteadyTime::max();              // with mutex_
    bool stopping_ = false;                                  // with mutex_
    bool leases_recorded_ = false;                           // with mutex_
    std::map<std::string, std::vector<KeptPage>> unclaimed_; // by key_of(); with mutex_
    std::map<std::string, std::set<std::uint32_t>> claimed_; // pages in the file; with mutex_

    // State of the writer: the constructor, then the thread, then finish().
    std::optional<Store> store_;
    std::map<std::string, Written> written_; // by key_of()
    std::vector<std::string> stale_;         // rows to be erased
    std::vector<std::string> stale_leases_;  // the same
    bool leases_anew_ = false;               // all of them have to be written
    bool introduced_ = false;                // the file has this process's own rows
    bool anew_ = false;                      // and none of the former one's, until introduced
    bool failing_ = false;
    SteadyTime next_open_{};
    bool unknown_written_ = false;
    bool grace_over_ = false; // after a start with unknown holders
    std::optional<locks::LockManager::Records>
        introduced_leases_; // in the batch that is being written
    SteadyTime next_sweep_{};

    std::atomic<std::uint64_t> writes_{0};
    std::atomic<std::uint64_t> write_failures_{0};
    std::atomic<std::int64_t> last_write_{0}; // wall, ns
    std::atomic<std::int64_t> last_round_{0}; // its length, ns
    std::thread thread_;
};

} // namespace stint::runtime
