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

// Returns the changes whose limits have the same identity now. Logs the others.
[[nodiscard]] std::vector<LimitChange>
still_valid(std::vector<SavedChange> saved, const Compiled& compiled);

// Encodes a change as a row of the state file. written: the present time.
[[nodiscard]] state::Row row_of(const SavedChange& saved, const SavedClock& written);

// Decodes a row. Returns nullopt if row_of() did not make it, or if the change has expired.
[[nodiscard]] std::optional<SavedChange> change_in(const state::Row& row, const SavedClock& now);

// Tracks the changes in the state file: only rows that differ are written. Threads: restore(),
// add_to(), settle() and end_attempt() on the thread that owns the state file; all other functions
// on any.
class ChangeWriter {
  public:
    // Reads the file's rows at the start. Returns their changes.
    [[nodiscard]] std::vector<SavedChange>
    restore(std::vector<state::Row> rows, const SavedClock& started);
    // Takes over the rows of a file that was reopened. They are replaced if set() was ever called.
    // What was being added to the former file is not settled any more.
    void begin_anew(std::vector<state::Row> rows);

    // Sets all changes that the file has to have.
    void set(const std::vector<SavedChange>& changes);
    // Adds or replaces a change that the file has to have, or ends one. O(log n). loss: the line of
    // the log for the case that the file does not get it.
    void put(SavedChange change, std::string loss);
    void erase(const LimitChange::Target& target, std::string loss);

    // Adds to the batch the changes, and the erasures of others, in which the file differs.
    // settle() tells whether the batch was written.
    void add_to(StateBatch& batch, const SavedClock& now);
    void settle(bool written);

    // Returns a number that grows with what set(), put() and erase() change.
    [[nodiscard]] std::uint64_t version();
    // Ends an attempt to write what was set up to `version`, the number when it began. If it was
    // not written, returns the lines about losses that no attempt has returned before. why: the
    // reason.
    [[nodiscard]] std::vector<std::string> end_attempt(std::uint64_t version, std::string why);
    // True once what was set up to `version` is written, or an attempt to write it has failed.
    [[nodiscard]] bool is_settled(std::uint64_t version);
    // Says whether the file lacks changes or erasures.
    struct Unwritten {
        bool any = false;
        std::string why{}; // why the last attempt failed; empty: it did not
    };
    [[nodiscard]] Unwritten unwritten();

  private:
    using Keys = std::set<std::string>;

    std::mutex mutex_;
    // Guarded by mutex_.
    std::map<std::string, SavedChange> wanted_; // by the keys of their rows
    Keys in_file_;                              // keys of the file's rows
    Keys unwritten_;      // keys of rows that may differ from those in the file
    Keys adding_;         // between add_to() and settle()
    Keys added_;          // those of adding_ that are in the file then
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
