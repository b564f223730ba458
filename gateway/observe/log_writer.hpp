// Writes batches of lines to the access log's target and handles failures. Has no thread and no
// clock of its own; the access log's writer thread calls it.
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

// Numbers of lines written and dropped; read by any thread.
struct LogCounts {
    std::atomic<std::uint64_t> written{0};
    std::atomic<std::uint64_t> dropped{0};
};

class LogWriter {
  public:
    explicit LogWriter(LogCounts& counts) : counts_{counts} {}

    // Sets the target. The previous target stays in use until the new one can be opened, so that no
    // line is lost to a wrong path or to a directory that is missing for a moment.
    void set_target(AccessLog::Target target, SteadyTime now);
    void reopen(SteadyTime now);
    void close(); // closes the target; all further lines are dropped

    // Tries again to open the target if the last attempt failed a second ago or earlier.
    void tick(SteadyTime now);
    [[nodiscard]] std::optional<SteadyTime> next_tick() const noexcept { return open_again_; }

    // Returns the buffer of complete lines to write next. Fill it only after flush() has returned
    // true.
    [[nodiscard]] std::string& lines() noexcept { return lines_; }
    // Writes all lines(), or drops them if writing fails; returns true with lines() empty. Returns
    // false if the target is full: then poll descriptor() and call flush() again.
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
    AccessLog::Target target_{AccessLog::Target::Kind::off, {}}; // the target as last set
    std::optional<LogFile> file_;          // the open file; may be the previous target's
    std::optional<SteadyTime> open_again_; // time of the next attempt, while target_ is not open
    std::string lines_;
    std::size_t offset_ = 0; // start of the unwritten lines
    std::optional<SteadyTime> blocked_since_;
    std::string file_name_;    // name of file_ for messages
    std::string open_trouble_; // last logged failure to open; empty = none
    std::string trouble_;      // last logged failure to write; empty = none
    SteadyTime last_trouble_{};
};

} // namespace stint::observe
