// The access log: one line with a JSON object per request, written by its own thread. If the target
// is full or fails, lines are dropped and counted; requests never wait for it.
#pragma once

#include "base/log_target.hpp"
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

// The data of one line. Views must be valid until write() returns. Texts may hold any bytes;
// invalid UTF-8 is replaced.
struct AccessRecord {
    WallTime time{}; // time at which the request's head was complete
    std::string_view request_id, client, host, route, method, path, limit, upstream;
    std::string_view protocol;       // such as HTTP/1.1; empty = no head could be read
    std::string_view tls;            // such as TLSv1.3; empty = no TLS
    std::string_view key;            // key by which the limit refused; empty = none, or not logged
    std::string_view would_refuse;   // dry run: the limit that would refuse; empty = none
    std::string_view would_wait;     // dry run: the limit that would let it wait; empty = none
    std::string_view cost_overrun;   // limit with a cost above its reserve; empty = none
    std::string_view upstream_error; // failure of the last endpoint; empty = none
    unsigned attempts = 1;           // number of attempts, retries included
    int status = 0;                  // status sent to the client; 499 if the client left first
    Outcome outcome = Outcome::forwarded;
    std::uint64_t bytes_in = 0;  // body bytes from the client
    std::uint64_t bytes_out = 0; // all bytes to the client
    Duration duration{};
    Duration waited{}; // time in a queue; zero = not queued
    // Time from sending the request upstream to receiving the response's head; zero = no response.
    Duration upstream_time{};
    std::span<const LoggedField> fields;
};

// Appends the line of a request to `out`, with the final newline. Members: time (RFC 3339, ms,
// UTC), request_id, client, protocol, tls, host, route, method, path, status, decision, limit, key,
// would_refuse, would_wait, cost_overrun, bytes_in, bytes_out, duration_ms, waited_ms, attempts,
// upstream, upstream_error, upstream_ms, fields. Members without a value are omitted.
void format(std::string& out, const AccessRecord& record);

class AccessLog {
  public:
    using Target = LogTarget;

    // Starts the writer thread. A file that cannot be opened is reported to the operational log and
    // retried every second; until then lines are dropped and counted.
    explicit AccessLog(Target target);
    ~AccessLog(); // writes waiting lines for at most a second, drops the rest
    AccessLog(const AccessLog&) = delete;
    AccessLog& operator=(const AccessLog&) = delete;

    // A worker's channel to the writer thread: a bounded buffer. write() formats a line into the
    // buffer and never waits for I/O. A line that does not fit is dropped and counted. One per
    // worker, used on its thread. The AccessLog must outlive the channel.
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

    // reopen() and set_target() are thread-safe and return at once; the writer thread applies them
    // later. The previous file stays in use until the new one can be opened. Lines written before
    // the call may go to either file; none is lost.
    void reopen();                  // for a log rotation (SIGHUP)
    void set_target(Target target); // for a reload; no effect if unchanged

    [[nodiscard]] std::uint64_t written() const noexcept; // lines
    [[nodiscard]] std::uint64_t dropped() const noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace stint::observe
