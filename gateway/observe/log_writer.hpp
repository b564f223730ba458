// Writes batches of lines to the access log's target and handles failures. No thread and no clock
// of its own: the access log's thread drives it.
#pragma once

#include "base/time.hpp"
#include "observe/access_log.hpp"
#include "observe/log_file.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace stint::observe {

// Counts of lines; read by any thread.
struct LogCounts {
    std::atomic<std::uint64_t> written{0};
    std::atomic<std::uint64_t> dropped{0};
};

class LogWriter {
  public:
    explicit LogWriter(LogCounts& counts) : counts_{counts} {}

    // Sets the target. The previous one stays in use until the new one can be opened: no line is
    // lost to a wrong path in a reload or to a directory that is missing for a moment.
    void set_target(AccessLog::Target target, SteadyTime now);
    void reopen(SteadyTime now);
    void close(); // from here on every line is dropped

    // Retries opening a target, a second after the last attempt.
    void tick(SteadyTime now);
    [[nodiscard]] std::optional<SteadyTime> next_tick() const noexcept { return open_again_; }

    // The whole lines to write next; to be filled only when flush() has returned true.
    [[nodiscard]] std::string& lines() noexcept { return lines_; }
    // Writes lines() or, if that is impossible, drops them: then lines() is empty and it returns
    // true. Returns false if the target is full: poll descriptor() and call again.
    [[nodiscard]] bool flush(SteadyTime now);

    [[nodiscard]] bool is_open() const noexcept { return file_.has_value(); }
    [[nodiscard]] int descriptor() const noexcept { return file_ ? file_->descriptor() : -1; }

  private:
    void open(SteadyTime now);
    [[nodiscard]] int write_step();
    void drop_rest();
    void rewind_to_line_start();
    void blocked(SteadyTime now);
    void trouble(SteadyTime now, const std::string& what);
    void recovered(SteadyTime now);

    LogCounts& counts_;
    AccessLog::Target target_{AccessLog::Target::Kind::off, {}}; // as wanted
    std::optional<LogFile> file_;          // as open; perhaps still the previous target's
    std::optional<SteadyTime> open_again_; // while target_ is not open
    std::string lines_;
    std::size_t offset_ = 0; // start of the unwritten lines
    std::optional<SteadyTime> blocked_since_;
    std::string file_name_;    // file_'s name
    std::string open_trouble_; // as reported; empty = none
    std::string trouble_;      // the same for writing
    SteadyTime last_trouble_{};
};

} // namespace stint::observe
