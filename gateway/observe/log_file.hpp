// The target of the access log's lines: a descriptor to which writes never block on a reader.
#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "observe/access_log.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace stint::observe {

// An open target. Used by one thread, in which SIGPIPE must be blocked or ignored.
class LogFile {
  public:
    // Opens the target; creates a missing file. A FIFO without a reader is an error (ENXIO), as is
    // Target::Kind::off (EINVAL).
    [[nodiscard]] static Result<LogFile> open(const AccessLog::Target& target);

    struct Written {
        std::size_t bytes = 0;
        int error = 0; // errno if no byte was written; EAGAIN = poll descriptor() first
    };
    // Writes as much of `lines` as one write takes. Requires that `lines` is not empty. On a pipe,
    // lines of up to PIPE_BUF bytes are not mixed with other writers' output (POSIX write()).
    [[nodiscard]] Written write_some(std::string_view lines) noexcept;

    // Returns true if the last byte written, or found when the file was opened, is not a newline.
    [[nodiscard]] bool mid_line() const noexcept { return mid_line_; }

    // The descriptor to poll for POLLOUT after EAGAIN.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

  private:
    enum class Manner : std::uint8_t {
        plain,       // regular files and devices: a write waits at most for the disk
        nonblocking, // pipes and terminals, with an own file description in O_NONBLOCK mode
        polled,      // pipes and terminals, if the file description is shared: poll first
        socket,
    };
    LogFile(Descriptor descriptor, Manner manner, bool mid_line) noexcept
        : descriptor_{std::move(descriptor)}, manner_{manner}, mid_line_{mid_line} {}
    static Result<LogFile> open_standard_output();
    static Result<LogFile> open_file(const std::string& path);

    Descriptor descriptor_;
    Manner manner_ = Manner::plain;
    bool mid_line_ = false;
};

} // namespace stint::observe
