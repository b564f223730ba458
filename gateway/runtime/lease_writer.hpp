// Writes leases to the state file before they are granted.
#pragma once

#include "base/time.hpp"
#include "locks/lock_manager.hpp"
#include "runtime/state_file.hpp"
#include "state/store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stint::runtime {

// Moves leases between the lock manager and the state file. Threads: one at a time, that of the
// file.
class LeaseWriter {
  public:
    // Both outlive this.
    LeaseWriter(locks::LockManager& locks, StateFile& file) : locks_{locks}, file_{file} {}

    // Gives the file's leases and the highest fencing number back to the lock manager.
    void restore(const StateFile::Contents& contents, const Now& now);
    // Erases these rows, which cannot be read, with the next write.
    void drop(const std::vector<state::Row>& rows);
    // Writes all leases again, in place of these rows: the file is another one, or an older one.
    void begin_anew(const std::vector<state::Row>& rows);

    // Writes new leases; the callers that were granted them wait for it. writable: Stint's own rows
    // are in the file. Without them the leases could not be read: then their writing has failed.
    void write(bool writable);

    // Adds all leases, where they are to be written again: together with Stint's own rows, so that
    // no file knows these without who holds what.
    void introduce(std::vector<state::Change>& changes);
    // Tells the lock manager what has become of them. No effect unless they were introduced.
    void settle_introduced(bool done);

  private:
    static constexpr auto fence = "fence"; // the highest fencing number given

    [[nodiscard]] bool try_write(const locks::LockManager::Records& records);
    [[nodiscard]] static std::vector<state::Change>
    changes_of(const locks::LockManager::Records& records);

    locks::LockManager& locks_;
    StateFile& file_;
    std::vector<std::string> stale_; // rows to be erased
    bool anew_ = false;              // all of them have to be written
    // In the transaction that is being written.
    std::optional<locks::LockManager::Records> introduced_;
};

} // namespace stint::runtime
