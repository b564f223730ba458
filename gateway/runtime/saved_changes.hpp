// Saves the operators' changes of limits in the state file, and restores them.
#pragma once

#include "runtime/compile.hpp"
#include "runtime/limit_changes.hpp"
#include "runtime/saved_rows.hpp"
#include "runtime/state_batch.hpp"
#include "state/store.hpp"

#include <cstdint>
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

// Returns the changes with the identities of their limits. Leaves out those of other limits.
[[nodiscard]] std::vector<SavedChange>
with_identities(const LimitChanges& changes, const Compiled& compiled);

// Returns the changes whose limits have the same identity now. Logs the others.
[[nodiscard]] std::vector<LimitChange>
still_valid(std::vector<SavedChange> saved, const Compiled& compiled);

// Encodes a change as a row of the state file. written: the present time.
[[nodiscard]] state::Row row_of(const SavedChange& saved, const SavedClock& written);

// Decodes a row. Returns nullopt if row_of() did not make it, or if the change has expired.
[[nodiscard]] std::optional<SavedChange> change_in(const state::Row& row, const SavedClock& now);

// Tracks the changes in the state file. Threads: set() on any; all other functions on the thread
// that owns the state file.
class ChangeWriter {
  public:
    // Reads the file's rows at the start. Returns their changes.
    [[nodiscard]] std::vector<SavedChange>
    restore(std::vector<state::Row> rows, const SavedClock& started);
    // Takes over the rows of a file that was reopened. They are replaced if set() was ever called.
    // What was being added to the former file is not settled any more.
    void begin_anew(std::vector<state::Row> rows);

    // Sets the changes that the file has to have.
    void set(std::vector<SavedChange> changes);
    // Adds the changes to the batch, and the erasure of others, if the file differs. settle() tells
    // whether the batch was written.
    void add_to(StateBatch& batch, const SavedClock& now);
    void settle(bool written);

  private:
    using Keys = std::set<std::string>;
    struct Adding {
        Keys rows;
        std::uint64_t version;
    };

    Keys written_;                 // keys of the file's rows
    std::optional<Adding> adding_; // between add_to() and settle()
    std::mutex mutex_;
    // Guarded by mutex_. A version counts the calls of set().
    std::vector<SavedChange> wanted_;
    std::uint64_t version_ = 0;
    std::uint64_t written_version_ = 0;
};

} // namespace stint::runtime
