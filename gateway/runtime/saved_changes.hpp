// Saves the operators' changes of limits in the state file, and restores them.
#pragma once

#include "runtime/compile.hpp"
#include "runtime/limit_changes.hpp"
#include "runtime/saved_rows.hpp"
#include "runtime/state_batch.hpp"
#include "state/store.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

struct SavedChange {
    LimitChange change;
    std::string identity; // key_of() the limit's identity
};

// Returns the change with the identity of its limit; nullopt if there is no such limit.
[[nodiscard]] std::optional<SavedChange>
with_identity(const LimitChange& change, const Compiled& compiled);

// Returns the changes whose limits still have the identity with which they were saved. Logs the
// others.
[[nodiscard]] std::vector<LimitChange>
still_valid(std::vector<SavedChange> saved, const Compiled& compiled);

// Encodes a change as a row of the state file. written: the present time.
[[nodiscard]] state::Row row_of(const SavedChange& saved, const SavedClock& written);

// Decodes a row. Returns nullopt if row_of() did not make it, or if the change has expired.
[[nodiscard]] std::optional<SavedChange> change_in(const state::Row& row, const SavedClock& now);

// Keeps the state file's rows equal to the operators' changes, and writes only rows that differ.
// Threads: restore(), add_to(), settle() and end_attempt() on the thread that owns the state file;
// all other functions on any.
class ChangeWriter {
  public:
    // Reads the file's rows at the start. Returns their changes.
    [[nodiscard]] std::vector<SavedChange>
    restore(std::vector<state::Row> rows, const SavedClock& started);
    // Takes over the rows of a file that was reopened. They are replaced if set() was ever called.
    // A batch of add_to() for the former file is forgotten: settle() has no effect on it.
    void begin_anew(std::vector<state::Row> rows);

    // Sets the changes that the file has to have, in place of all former ones.
    void set(const std::vector<SavedChange>& changes);
    // put() adds or replaces a change that the file has to have, erase() removes one. O(log n).
    // loss: the log line for the case that the file cannot be written.
    void put(SavedChange change, std::string loss);
    void erase(const LimitChange::Target& target, std::string loss);

    // Adds to the batch what makes the file have exactly the changes that were set: rows to write
    // and to erase. Call settle() afterwards, with true if the batch was written.
    void add_to(StateBatch& batch, const SavedClock& now);
    void settle(bool written);

    // Returns a number that grows with each change that set(), put() or erase() makes.
    [[nodiscard]] std::uint64_t version();
    // Ends an attempt to write all changes up to `version`, the version() when the attempt began.
    // If they were not written, returns the log lines about losses that no attempt has returned
    // before. why: the reason of the failure.
    [[nodiscard]] std::vector<std::string> end_attempt(std::uint64_t version, std::string why);
    // True once all changes up to `version` are written, or an attempt to write them has failed.
    [[nodiscard]] bool is_settled(std::uint64_t version);
    struct Unwritten {
        bool any = false;  // true if the file lacks changes, or has changes that have ended
        std::string why{}; // the reason why the last attempt failed; empty: it did not fail
    };
    [[nodiscard]] Unwritten unwritten();

  private:
    using Keys = std::set<std::string>;

    std::mutex mutex_;
    // All members below are guarded by mutex_.
    std::map<std::string, SavedChange> wanted_; // by the keys of their rows
    Keys in_file_;                              // keys of the file's rows
    Keys unwritten_;      // keys of rows that may differ from those in the file
    Keys adding_;         // keys of rows in the batch, between add_to() and settle()
    Keys added_;          // those in adding_ that the batch writes; it erases the others
    bool is_set_ = false; // set() was called
    // Lines about losses, by the keys of rows, that end_attempt() has not returned yet.
    std::map<std::string, std::string> losses_;
    std::uint64_t version_ = 0;
    std::uint64_t adding_version_ = 0; // version_ at the time of add_to()
    std::uint64_t written_version_ = 0;
    std::uint64_t attempted_version_ = 0;
    std::string why_; // the reason of the last failure; empty after a success
};

} // namespace stint::runtime
