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

    // Writes new leases, for which their callers wait. writable: the file has Stint's own rows.
    // Without them the leases could not be read again, so writing them counts as failed.
    void write(bool writable);

    // Adds all leases if they have to be written again. They go into the same transaction as
    // Stint's own rows, so that a file with these rows always names the holders of the locks.
    void introduce(std::vector<state::Change>& changes);
    // Tells the lock manager whether that transaction was written. No effect if introduce() added
    // nothing.
    void settle_introduced(bool done);

  private:
    static constexpr auto fence = "fence"; // the highest fencing number given

    [[nodiscard]] bool try_write(const locks::LockManager::Records& records);
    [[nodiscard]] static std::vector<state::Change>
    changes_of(const locks::LockManager::Records& records);

    locks::LockManager& locks_;
    StateFile& file_;
    std::vector<std::string> stale_; // rows to be erased
    bool anew_ = false;              // introduce() has to add all leases
    // The records of introduce(), until settle_introduced().
    std::optional<locks::LockManager::Records> introduced_;
};

} // namespace stint::runtime
