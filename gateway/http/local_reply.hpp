// Answers that the gateway gives itself: refusals and errors, as problem documents (RFC 9457), or
// in the form that the client prefers.
#pragma once

#include "base/time.hpp"
#include "http/head_buffer.hpp"
#include "http/media_type.hpp"
#include "http/ratelimit_fields.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace stint::http {

struct ReplyContext {
    std::string_view request_id; // may be empty (the head could not be read)
    std::string_view date;       // IMF-fixdate, see DateClock
    bool head_request = false;   // the head only, with the Content-Length of the whole
    bool keep_alive = true;      // otherwise "Connection: close"
    int client_minor = 1;
    MediaType media = MediaType::problem_json;
    const PolicyFields* policies = nullptr; // told in the head where there are any
};

// A complete response (head and body) is appended to `out` and its body's length returned.
// status: 400, 404, 413, 431, 501, 502, 503, 504, 505, …; detail may come from anywhere: it is
// JSON-escaped.
std::size_t
write_problem(HeadBuffer& out, const ReplyContext& context, int status, std::string_view detail);

// To a connection that is not served, before anything of it was read: such a response with
// Retry-After: 1 that ends the connection.
std::size_t
write_turned_away(HeadBuffer& out, std::string_view date, int status, std::string_view detail);

// 401 with WWW-Authenticate: Bearer (RFC 6750 section 3).
std::size_t
write_unauthorized(HeadBuffer& out, const ReplyContext& context, std::string_view detail);

// 405 with Allow ("GET, HEAD").
std::size_t
write_method_not_allowed(HeadBuffer& out, const ReplyContext& context, std::string_view allow);

// 200 with Allow and no content: what OPTIONS asks of this gateway itself (RFC 9110 section 9.3.7).
std::size_t write_options(HeadBuffer& out, const ReplyContext& context, std::string_view allow);

// 204.
void write_no_content(HeadBuffer& out, const ReplyContext& context);

// 403 by a limit, which the problem document names (type, title, status, detail, limit): its list
// of those it denies has the request, or the request lacks what it counts by. No Retry-After: later
// it would be the same. "The limit NAME: " goes before the detail, and "." behind it.
std::size_t write_denied(
    HeadBuffer& out, const ReplyContext& context, std::string_view limit, std::string_view detail);

// 412 by a lock that the route needs a fencing number of, which the problem document names (type,
// title, status, detail, lock). "The lock NAME: " goes before the detail, and "." behind it.
std::size_t write_fenced_off(
    HeadBuffer& out, const ReplyContext& context, std::string_view lock, std::string_view detail);

struct LimitedReply {
    std::string_view limit; // its name
    Duration retry_after{};
    // cost: the request costs more than the limit ever has, so no time to come back at is named.
    enum class Why : std::uint8_t { window, pace, cap, cost, table_full } why = Why::window;
    // What the limit has of its own.
    int status = 429;
    std::string_view content_type{};            // empty: no own body
    std::string_view body{};                    // with reply_placeholders
    std::string_view ticket{};                  // X-Stint-Ticket (slot_ticket.hpp); empty: none
    std::span<const std::string_view> others{}; // names of limits that refuse as well
};

// The limit's status (429 unless it has its own; RFC 6585 section 4) with Retry-After in whole
// seconds rounded up, at least 1, Retry-After-Ms, Cache-Control: no-store, and either the limit's
// own body or a quota-exceeded problem (draft-ietf-httpapi-ratelimit-headers-11) that names the
// limit: type, title, status, detail, violated-policies, limit, retry_after_ms. Allocates nothing
// after warm-up.
std::size_t write_limited(HeadBuffer& out, const ReplyContext& context, const LimitedReply& reply);

// An upstream has asked for a pause: its own status (429 or 503) with what remains of it, as a
// problem of the draft's type quota-exceeded or temporary-reduced-capacity.
struct PausedReply {
    std::string_view upstream; // its name; or empty, with
    std::string_view limit{};  // the name of a limit whose callers told of the pause
    int status = 503;
    Duration retry_after{};
    bool paced = false; // to the limits that the upstream told; it asked for no pause
};
std::size_t write_paused(HeadBuffer& out, const ReplyContext& context, const PausedReply& reply);

// 503 with Retry-After (as above) and this detail: nobody serves the request for now.
std::size_t write_unavailable(
    HeadBuffer& out, const ReplyContext& context, std::string_view detail, Duration retry_after);

// The wait and from 0 to `most` on top, in whole milliseconds, each as likely: clients that were
// refused together do not come back together, and none earlier than it may. random: 64 uniform
// bits.
[[nodiscard]] Duration
with_jitter(Duration retry_after, Duration most, std::uint64_t random) noexcept;

// The reason phrase of a status (RFC 9110 section 15), "Unknown" for others.
[[nodiscard]] std::string_view reason_phrase(int status) noexcept;

// The Date field's value, formatted once a second. One per worker.
class DateClock {
  public:
    // "Sun, 06 Nov 1994 08:49:37 GMT"; the view is valid until the next call.
    [[nodiscard]] std::string_view format(WallTime now) noexcept;

  private:
    std::int64_t second_ = -1;
    char text_[32] = {};
};

} // namespace stint::http
