// Local replies: the gateway's own refusals and errors, as problem documents (RFC 9457) or in the
// form that the client prefers.
#pragma once

#include "base/time.hpp"
#include "http/media_type.hpp"
#include "http/ratelimit_fields.hpp"
#include "http/response.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace stint::http {

// The request's contribution to a local reply.
struct ReplyContext {
    std::string_view request_id{}; // may be empty (the head could not be read)
    MediaType media = MediaType::problem_json;
    PolicyFields policies{}; // the rate-limit fields to send
};

// Makes a problem. status: 400, 404, 413, 431, 501, 502, 503, 504, 505, …; detail: any text; it is
// escaped.
void make_problem(Response& to, const ReplyContext& context, int status, std::string_view detail);

// Makes the refusal for a connection of which nothing has been read: a problem with Retry-After: 1.
void make_turned_away(Response& to, int status, std::string_view detail);

// Makes 401 with WWW-Authenticate: Bearer (RFC 6750 section 3).
void make_unauthorized(Response& to, const ReplyContext& context, std::string_view detail);

// Makes 405 with Allow ("GET, HEAD").
void make_method_not_allowed(Response& to, const ReplyContext& context, std::string_view allow);

// Makes 200 with Allow and no content: the answer to OPTIONS for the gateway itself (RFC 9110
// section 9.3.7).
void make_options(Response& to, const ReplyContext& context, std::string_view allow);

// Makes 204, without the fields of a content, not even its length (RFC 9110 section 8.6).
void make_no_content(Response& to);

// Makes a 403 because of a limit: its deny list has the request, or the request lacks its key. The
// problem document names the limit (type, title, status, detail, limit). Has no Retry-After,
// because a retry would fail, too. detail: written between "The limit NAME: " and ".".
void make_denied(
    Response& to, const ReplyContext& context, std::string_view limit, std::string_view detail);

// Makes a 412 because of a lock whose fencing number the route requires. The problem document names
// the lock (type, title, status, detail, lock). detail: written between "The lock NAME: " and ".".
void make_fenced_off(
    Response& to, const ReplyContext& context, std::string_view lock, std::string_view detail);

struct LimitedReply {
    std::string_view limit; // the limit's name
    Duration retry_after{};
    // The reason. cost: the request costs more than the limit ever has, so a retry is never
    // admitted.
    enum class Why : std::uint8_t { window, pace, cap, cost, table_full } why = Why::window;
    // The limit's own status, content type and body, if configured.
    int status = 429;
    std::string_view content_type{};            // empty: the limit has no body of its own
    std::string_view body{};                    // text in which reply_placeholders are filled in
    std::string_view ticket{};                  // X-Stint-Ticket (slot_ticket.hpp); empty: none
    std::span<const std::string_view> others{}; // names of limits that refuse as well
};

// Makes a response with the limit's status (429 unless it has its own; RFC 6585 section 4),
// Retry-After in whole seconds rounded up, at least 1, Retry-After-Ms, Cache-Control: no-store, and
// either the limit's own body or a quota-exceeded problem (draft-ietf-httpapi-ratelimit-headers-11)
// that names the limit: type, title, status, detail, violated-policies, limit, retry_after_ms.
// Allocates nothing after warm-up.
void make_limited(Response& to, const ReplyContext& context, const LimitedReply& reply);

// A refusal with the time to wait: an upstream has asked for a pause, its rate-limit fields allow
// no request yet (`paced`), or callers of a limit have reported a pause. The body is a problem of
// the type quota-exceeded for 429, temporary-reduced-capacity for 503
// (draft-ietf-httpapi-ratelimit-headers).
struct PausedReply {
    std::string_view upstream; // the upstream's name; empty if `limit` is set
    std::string_view limit{};  // the limit whose callers reported the pause; or empty
    int status = 503;
    Duration retry_after{};
    bool paced = false; // paced by the upstream's rate-limit fields, without a pause
};
void make_paused(Response& to, const ReplyContext& context, const PausedReply& reply);

// Makes 503 with Retry-After (written as in make_limited()) and this detail: no endpoint serves the
// request now.
void make_unavailable(
    Response& to, const ReplyContext& context, std::string_view detail, Duration retry_after);

// Returns retry_after plus a uniform random time from 0 to `most`, in whole milliseconds: clients
// refused together then do not retry together, and none too early. random: 64 uniform bits.
[[nodiscard]] Duration
with_jitter(Duration retry_after, Duration most, std::uint64_t random) noexcept;

// Returns the reason phrase of a status (RFC 9110 section 15), "Unknown" for others.
[[nodiscard]] std::string_view reason_phrase(int status) noexcept;

// Formats the value of the Date field, once a second. One per worker.
class DateClock {
  public:
    // Returns the time as "Sun, 06 Nov 1994 08:49:37 GMT". The view is valid until the next call.
    [[nodiscard]] std::string_view format(WallTime now) noexcept;

  private:
    std::int64_t second_ = -1;
    char text_[32] = {};
};

} // namespace stint::http
