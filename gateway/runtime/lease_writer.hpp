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

// Writes the lock manager's leases to the state file, and restores them at start. Used only by the
// thread that owns the state file.
class LeaseWriter {
  public:
    // Both arguments must outlive this object.
    LeaseWriter(locks::LockManager& locks, StateFile& file) : locks_{locks}, file_{file} {}

    // Restores the file's leases and the highest fencing number in the lock manager.
    void restore(const StateFile::Contents& contents, const Now& now);
    // Marks rows for erasure by the next write, because they cannot be used.
    void drop(const std::vector<state::Row>& rows);
    // Makes the next introduce() write all leases and erase `rows`. Call it after the file was
    // reopened, because the file may be new or out of date.
    void begin_anew(const std::vector<state::Row>& rows);

    // Writes leases that were granted, renewed or ended since the last call; clients wait for the
    // result. writable: the file is open and has this process's hash key, without which leases
    // could not be restored. If false, the write counts as failed.
    void write(bool writable);

    // Adds all leases to `changes` if begin_anew() was called: the file has none of them yet. The
    // caller writes them in one transaction with this process's hash key. So a file that has the
    // key has all lock holders, too.
    void introduce(std::vector<state::Change>& changes);
    // Reports to the lock manager whether the transaction of introduce() was written. No effect if
    // introduce() added nothing.
    void settle_introduced(bool done) noexcept;

    // Returns the rows of these records, and that of the highest fencing number.
    [[nodiscard]] static std::vector<state::Change>
    changes_of(const locks::LockManager::Records& records);

  private:
    static constexpr auto fence = "fence"; // row key of the highest fencing number issued

    [[nodiscard]] bool try_write(const locks::LockManager::Records& records);
    locks::LockManager& locks_;
    StateFile& file_;
    std::vector<std::string> stale_; // keys of rows to be erased
    bool anew_ = false;              // introduce() has to add all leases
    // The leases that introduce() added; held until settle_introduced().
    std::optional<locks::LockManager::Records> introduced_;
};

} // namespace stint::runtime
