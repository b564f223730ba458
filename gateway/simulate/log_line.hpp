// The formats of access logs. Each has a parser of one line, in a file of its own.
#pragma once

#include "base/error.hpp"
#include "simulate/logged_request.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::simulate {

// The parsers below parse a line of one format. The error is a human-readable description of the
// fault. If the format is right, but the logged request is malformed ("-", bytes of a TLS
// handshake), the result has an empty method.
[[nodiscard]] Result<LoggedRequest, std::string> parse_stint_line(std::string_view line);
// Parses nginx's `common` and `combined`, with any fields behind them. If one of these fields is
// $request_time, the result has the request's begin and duration; else its time is the request's
// end, in whole seconds, and it has no duration.
[[nodiscard]] Result<LoggedRequest, std::string> parse_nginx_line(std::string_view line);

// Parses HAProxy's `httplog` and `httpslog`, also behind a syslog prefix.
class HaproxyParser {
  public:
    // captured: the names of the captured request headers, in the log's order.
    explicit HaproxyParser(const std::vector<std::string>& captured);

    // The result refers to this object (LoggedRequest::told).
    [[nodiscard]] Result<LoggedRequest, std::string> parse(std::string_view line) const;

  private:
    void read_captured(LoggedRequest& logged, std::string_view values) const;

    std::vector<std::string> names_;
    FieldNames told_;
};

struct LogOptions {
    std::optional<LogFormat> format{};   // nullopt: recognised for each line
    std::vector<std::string> captured{}; // names of HAProxy's captured request headers, in order
    std::string host{};                  // Host of requests whose log lacks it; empty: none
};

// Returns a human-readable error about the first option that is not valid; "" if all are valid.
[[nodiscard]] std::string mistake_in(const LogOptions& options);

// Parses lines of any of the formats.
class LineParser {
  public:
    explicit LineParser(const LogOptions& options);

    // Parses a line. expected: the format that is tried first, set to the line's if it is another;
    // nullopt if no line has been recognised yet.
    [[nodiscard]] Result<LoggedRequest, std::string>
    parse(std::string_view line, std::optional<LogFormat>& expected) const;

  private:
    [[nodiscard]] Result<LoggedRequest, std::string>
    parse_as(LogFormat format, std::string_view line) const;
    [[nodiscard]] Result<LoggedRequest, std::string>
    recognise(std::string_view line, std::optional<LogFormat>& expected) const;

    std::optional<LogFormat> forced_;
    std::string host_;
    HaproxyParser haproxy_;
};

} // namespace stint::simulate
