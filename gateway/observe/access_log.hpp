// The access log: one JSON object a line for every request, written by a thread of its own. A full
// disk or a closed pipe costs lines (counted), never time.
#pragma once

#include "base/time.hpp"
#include "observe/outcome.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stint::observe {

struct LoggedField {
    std::string_view name;
    std::string_view value;
};

// The data of one line. Views are read before write() returns. Texts may hold any bytes: those that
// are not UTF-8 are replaced.
struct AccessRecord {
    WallTime time{}; // when the head had arrived
    std::string_view request_id, client, host, route, method, path, limit, upstream;
    std::string_view would_refuse;   // a limit that is not enforced
    std::string_view cost_overrun;   // limit whose reserve was less than the cost; empty: none
    std::string_view upstream_error; // why its last endpoint failed
    unsigned attempts = 1;           // sends of the request
    int status = 0;                  // as sent to the client; 499 if the client had gone before
    Outcome outcome = Outcome::forwarded;
    std::uint64_t bytes_in = 0;  // body bytes from the client
    std::uint64_t bytes_out = 0; // all bytes to the client
    Duration duration{};
    Duration waited{}; // time in a queue; zero = did not wait
    // Time from sending the request to receiving the response's head; zero: none.
    Duration upstream_time{};
    std::span<const LoggedField> fields;
};

// Formats the line: time (RFC 3339, ms, UTC), request_id, client, host, route, method, path,
// status, decision, limit, bytes_in, bytes_out, duration_ms, waited_ms, attempts, upstream,
// upstream_error, upstream_ms, fields; members without a value are left out. Appends to `out`, with
// the final newline.
void format(std::string& out, const AccessRecord& record);

class AccessLog {
  public:
    struct Target {
        enum class Kind : std::uint8_t { standard_output, file, off } kind = Kind::standard_output;
        std::string path;
        friend bool operator==(const Target&, const Target&) = default;
    };

    // Starts the writer thread. A file that cannot be opened is reported to the operational log and
    // retried every second; until then lines are dropped and counted.
    explicit AccessLog(Target target);
    ~AccessLog(); // writes out what it can, for at most a second; the rest is dropped
    AccessLog(const AccessLog&) = delete;
    AccessLog& operator=(const AccessLog&) = delete;

    // A worker's end: a bounded buffer that the writer empties. write() formats into it and never
    // waits for I/O; a line that does not fit is dropped and counted. One per worker; outlived by
    // the AccessLog.
    class Channel {
      public:
        void write(const AccessRecord& record);
        [[nodiscard]] bool enabled() const noexcept;

      private:
        friend class AccessLog;
        struct Impl;
        explicit Channel(std::shared_ptr<Impl> impl);
        std::shared_ptr<Impl> impl_;
    };
    [[nodiscard]] Channel open_channel();

    // Both are thread-safe and return at once; the writer thread applies them later. Until the new
    // file can be opened the previous one stays in use. Lines written before the call may go to
    // either file; none is lost.
    void reopen();                  // after a log rotation (SIGHUP)
    void set_target(Target target); // after a reload; the same target changes nothing

    [[nodiscard]] std::uint64_t written() const noexcept; // lines
    [[nodiscard]] std::uint64_t dropped() const noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace stint::observe
