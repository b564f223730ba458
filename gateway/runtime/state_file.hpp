// The state file, which may be unavailable for a while and come back.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "state/store.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stint::runtime {

// Opens the state file, limits how often an unavailable file is tried again, and moves a broken
// file aside. A failure is logged once until a write succeeds. Threads: one at a time; writes(),
// write_failures() and last_write() on any.
class StateFile {
  public:
    // Names of the tables in the file.
    static constexpr auto counters = "counters";
    static constexpr auto leases = "leases";
    static constexpr auto operators = "operators"; // changes by operators
    static constexpr auto own = "stint";           // rows about the file itself

    struct Contents {
        std::vector<state::Row> own;
        std::vector<state::Row> counters;
        std::vector<state::Row> leases;
        std::vector<state::Row> changes;
        // A file with nothing in it, because a broken one was moved aside, now or earlier.
        bool in_place_of_another = false;
    };

    explicit StateFile(std::filesystem::path file) : file_{std::move(file)} {}

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_; }
    [[nodiscard]] bool is_open() const noexcept { return store_.has_value(); }

    // Opens the file and returns all its rows; nullopt if it is unavailable. A broken file is moved
    // aside and replaced by a new one.
    [[nodiscard]] std::optional<Contents> open();
    // Returns all rows of a file that open() could not open, because it can only be read; nullopt
    // if it cannot be read either, or is broken. The file stays as it is, and closed.
    [[nodiscard]] std::optional<Contents> read() const;
    // Calls open() if at_once is true or the last attempt is at least 5 seconds ago; else returns
    // nullopt.
    [[nodiscard]] std::optional<Contents> reopen(bool at_once);
    void close() noexcept { store_.reset(); }

    // Writes all changes in one transaction, or none. Requires is_open().
    [[nodiscard]] Result<void, state::Failure> write(std::span<const state::Change> changes);
    // Records a successful write: sets last_write(), and logs the recovery if writes had failed
    // before.
    void note_written();
    // Records that write() has failed. If the file is broken, closes it and moves it aside.
    void note_failed(const state::Failure& failure);
    // Records a failure, and logs it if it is the first since a success.
    void note_failure(const std::string& why);
    // Returns the reason of the last failure; empty after a success.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

    [[nodiscard]] std::uint64_t writes() const noexcept { return writes_.load(relaxed); }
    [[nodiscard]] std::uint64_t write_failures() const noexcept {
        return write_failures_.load(relaxed);
    }
    [[nodiscard]] WallTime last_write() const noexcept {
        return WallTime{Duration{last_write_.load(relaxed)}};
    }

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr Duration between_openings = std::chrono::seconds{5};

    [[nodiscard]] std::optional<state::Failure> try_open(Contents& contents);
    [[nodiscard]] static Result<Contents, state::Failure> contents_of(state::Store& store);
    [[nodiscard]] bool move_aside(const state::Failure& failure);

    const std::filesystem::path file_;
    std::optional<state::Store> store_;
    SteadyTime next_open_{};
    std::string failure_;
    bool failing_ = false;
    std::atomic<std::uint64_t> writes_{0};
    std::atomic<std::uint64_t> write_failures_{0};
    std::atomic<std::int64_t> last_write_{0}; // wall clock, ns since the epoch; 0 means never
};

} // namespace stint::runtime
