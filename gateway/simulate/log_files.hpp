// Access logs as one stream of requests ordered by time, in bounded memory.
#pragma once

#include "base/error.hpp"
#include "simulate/line_reader.hpp"
#include "simulate/logged_request.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stint::simulate {

// A merged stream of access logs. A line is written when its request ends, so lines are not ordered
// by the begin of their requests. The stream looks `look_ahead` requests ahead; requests that are
// later than that are counted as late. Several files are merged by time: rotated files in any
// order, or those of several instances.
class LogFiles {
  public:
    static constexpr std::size_t look_ahead = 65'536;

    struct Figures {
        std::uint64_t lines = 0;
        std::uint64_t malformed = 0;
        std::vector<std::string> first_malformed; // "file:line: why", a few
        std::uint64_t unrouted = 0;               // heads that no limit ever saw: 400 and the like
        std::uint64_t late = 0; // later in the log than the look-ahead; their time is moved up
    };

    // Opens the logs; "-" is standard input. The error is one line for a person.
    [[nodiscard]] static Result<LogFiles, std::string> open(const std::vector<std::string>& names);

    // Returns the next request, never before the last one's time; nothing at the end.
    [[nodiscard]] std::optional<LoggedRequest> next();

    // The read error, after next() has returned nothing.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
    [[nodiscard]] const Figures& summary() const noexcept { return figures_; }

  private:
    struct Source {
        LineReader reader;
        std::optional<LoggedRequest> ahead;
    };
    struct Waiting {
        LoggedRequest request;
        std::uint64_t sequence;
    };

    [[nodiscard]] static bool later(const Waiting& a, const Waiting& b) noexcept;
    void read_on(Source& source);
    [[nodiscard]] bool pull();

    std::vector<Source> sources_;
    std::vector<Waiting> waiting_; // a heap, the earliest first
    std::uint64_t sequence_ = 0;
    WallTime last_{};
    Figures figures_;
    std::string failure_;
};

} // namespace stint::simulate
