// The state file for its writers. It may be unavailable for a while and come back.
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

// Opens the file, and retries after a while if it is unavailable. Moves a broken one aside. Each
// kind of failure is logged once. Threads: one at a time, as the owner says; the figures: any.
class StateFile {
  public:
    // The tables of the file.
    static constexpr auto counters = "counters";
    static constexpr auto leases = "leases";
    static constexpr auto own = "stint"; // Stint's rows, not limits'

    struct Contents {
        std::vector<state::Row> own;
        std::vector<state::Row> counters;
        std::vector<state::Row> leases;
        bool in_place_of_another = false; // replaces a broken file
    };

    explicit StateFile(std::filesystem::path file) : file_{std::move(file)} {}

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_; }
    [[nodiscard]] bool is_open() const noexcept { return store_.has_value(); }

    // Opens the file and returns what it holds; nothing where it cannot be had. One that is broken
    // is moved aside.
    [[nodiscard]] std::optional<Contents> open();
    // Does the same if the last attempt is long enough ago, or at once.
    [[nodiscard]] std::optional<Contents> reopen(bool at_once);
    void close() noexcept { store_.reset(); }

    // Writes all changes in one transaction, or none. The file is open.
    [[nodiscard]] Result<void, state::Failure> write(std::span<const state::Change> changes);
    // Records that a whole round of writes has reached the file: earlier failures are over.
    void note_written();
    // Notes that write() has failed. The file is moved aside, and thereby closed, if it is broken.
    void note_failed(const state::Failure& failure);
    void note_failure(const std::string& why);

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
    [[nodiscard]] bool move_aside(const state::Failure& failure);

    const std::filesystem::path file_;
    std::optional<state::Store> store_;
    SteadyTime next_open_{};
    bool failing_ = false;
    std::atomic<std::uint64_t> writes_{0};
    std::atomic<std::uint64_t> write_failures_{0};
    std::atomic<std::int64_t> last_write_{0}; // wall, ns
};

} // namespace stint::runtime
