// Reads access logs as one stream of requests ordered by time, in bounded memory.
#pragma once

#include "base/error.hpp"
#include "simulate/line_reader.hpp"
#include "simulate/log_line.hpp"
#include "simulate/logged_request.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stint::simulate {

// A merged stream of the requests in access logs, ordered by the begin of requests. Lines are
// written at the end of requests, so the stream sorts them within a buffer of `look_ahead`
// requests; a request that is further out of order counts as late. Several files are merged by
// time: rotated files in any order, or files of several instances. If a log tells only the second,
// the requests of consecutive lines of one second are spread evenly over it, in the log's order.
class LogFiles {
  public:
    static constexpr std::size_t look_ahead = 65'536;
    static constexpr std::size_t formats = 3;

    struct Figures {
        std::uint64_t lines = 0;
        std::uint64_t malformed = 0;
        std::vector<std::string> first_malformed; // the first few errors, as "file:line: why"
        std::uint64_t unrouted = 0;               // requests answered before routing, such as 400
        std::uint64_t late = 0; // requests too late to be sorted; their time is raised
        std::array<std::uint64_t, formats> by_format{}; // requests, by LogFormat
        std::uint64_t without_host = 0;                 // requests whose log does not tell the Host
        std::uint64_t without_duration = 0;
        std::uint64_t whole_second = 0;     // requests whose time is known only to the second
        std::uint64_t unnamed_captures = 0; // requests with captured headers of unknown names
    };

    // Opens the logs; "-" is standard input. The error is one human-readable line.
    [[nodiscard]] static Result<LogFiles, std::string>
    open(const std::vector<std::string>& names, const LogOptions& options = {});

    // Returns the next request, with a time not before that of the previous request; nullopt at the
    // end.
    [[nodiscard]] std::optional<LoggedRequest> next();

    // Returns the read error, after next() has returned nullopt; empty if there was none.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
    [[nodiscard]] const Figures& summary() const noexcept { return figures_; }

  private:
    struct Source {
        LineReader reader;
        std::optional<LogFormat> format{}; // format of the last recognised line
        // The next request; if its time is known only to the second, all requests of that second.
        std::deque<LoggedRequest> ahead{};
        std::optional<LoggedRequest> beyond{}; // the request after them, if it is read already
    };
    struct Waiting {
        LoggedRequest request;
        std::uint64_t sequence;
    };

    explicit LogFiles(const LogOptions& options) : parser_{std::make_unique<LineParser>(options)} {}
    [[nodiscard]] static bool later(const Waiting& a, const Waiting& b) noexcept;
    [[nodiscard]] std::optional<LoggedRequest> read_request(Source& source);
    void note(const LoggedRequest& request);
    void read_on(Source& source);
    [[nodiscard]] bool pull();

    std::unique_ptr<const LineParser> parser_; // requests refer to it
    std::vector<Source> sources_;
    std::vector<Waiting> waiting_; // the sort buffer: a heap, the earliest request first
    std::uint64_t sequence_ = 0;
    WallTime last_{};
    Figures figures_;
    std::string failure_;
};

} // namespace stint::simulate
