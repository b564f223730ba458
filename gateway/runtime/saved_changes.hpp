// Saves the operators' changes of limits in the state file, and restores them.
#pragma once

#include "runtime/compile.hpp"
#include "runtime/limit_changes.hpp"
#include "runtime/saved_rows.hpp"
#include "runtime/state_batch.hpp"
#include "state/store.hpp"

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
// add_to() and settle() on the thread that owns the state file; all other functions on any.
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
    // Adds or replaces a change that the file has to have, or ends one. O(log n).
    void put(SavedChange change);
    void erase(const LimitChange::Target& target);

    // Adds to the batch the changes, and the erasures of others, in which the file differs.
    // settle() tells whether the batch was written.
    void add_to(StateBatch& batch, const SavedClock& now);
    void settle(bool written);

  private:
    using Keys = std::set<std::string>; // of rows

    std::mutex mutex_;
    // Guarded by mutex_.
    std::map<std::string, SavedChange> wanted_; // by the keys of their rows
    Keys in_file_;
    Keys unwritten_;      // rows that may differ from those in the file
    Keys adding_;         // between add_to() and settle()
    Keys added_;          // those of adding_ that are in the file then
    bool is_set_ = false; // set() was called
};

} // namespace stint::runtime
