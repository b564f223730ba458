#include "http/local_reply.hpp"

#include "base/placeholders.hpp"
#include "http/problem_writer.hpp"
#include "http/reply_writer.hpp"

#include <algorithm>
#include <chrono>

namespace stint::http {

namespace {

// The methods that a gateway in front of any API can forward. A 405 must have Allow (RFC 9110
// section 15.5.6) even when the request never reached a route.
constexpr std::string_view common_methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

constexpr ProblemKind quota_exceeded{
    "https://iana.org/assignments/http-problem-types#quota-exceeded", "Quota exceeded"};

constexpr ProblemKind reduced_capacity{
    "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
    "Temporarily reduced capacity"};

template <class WriteFields>
void make_plain_problem(
    Response& to,
    const ReplyContext& context,
    int status,
    std::string_view detail,
    WriteFields fields) {
    const auto body = [&](HeadBuffer& sink) {
        write_problem_body(
            sink, context.media, status, {"about:blank", reason_phrase(status)},
            [&](auto& text) { text << detail; }, [](auto&) {});
    };
    make_reply(to, context, status, content_type(context.media), fields, body);
}

std::string_view describe(LimitedReply::Why why) noexcept {
    switch (why) {
    case LimitedReply::Why::window:
        return " is used up";
    case LimitedReply::Why::pace:
        return " spreads its requests evenly, and this one came early";
    case LimitedReply::Why::cap:
        return " has as many requests in flight as it allows";
    case LimitedReply::Why::cost:
        return " is less than this request costs by itself; it can never be admitted";
    case LimitedReply::Why::table_full:
        return " cannot count another client at present";
    }
    return {};
}

// One wait in seconds and in milliseconds; 0 means that waiting does not help.
struct RetryAfter {
    RetryAfter() noexcept = default;
    explicit RetryAfter(Duration wait) noexcept
        : seconds{static_cast<std::uint64_t>(retry_after_seconds(wait))},
          ms{static_cast<std::uint64_t>(std::max<std::int64_t>(ceil_ms(wait), 1))} {}
    [[nodiscard]] bool ever() const noexcept { return ms > 0; }

    std::uint64_t seconds = 0;
    std::uint64_t ms = 0;
};

void write_retry_after(HeadBuffer& head, const RetryAfter& after) {
    head << "Retry-After: " << after.seconds << "\r\nRetry-After-Ms: " << after.ms << "\r\n";
}

// The limit or lock that refused. kind: "limit" or "lock".
struct Decider {
    std::string_view kind;
    std::string_view name;
};

// Makes a refusal that does not depend on the request rate: a deny list, or a fencing token.
void make_turned_down(
    Response& to,
    const ReplyContext& context,
    int status,
    const Decider& by,
    std::string_view detail) {
    const auto sentence = [&](auto& text) {
        text << "The " << by.kind << " " << by.name << ": " << detail << ".";
    };
    const auto members = [&](HeadBuffer& sink) {
        sink << ",\"" << by.kind << "\":\"";
        write_json_text(sink, by.name);
        sink << "\"";
    };
    const auto body = [&](HeadBuffer& sink) {
        write_problem_body(
            sink, context.media, status, {"about:blank", reason_phrase(status)}, sentence, members);
    };
    make_reply(
        to, context, status, content_type(context.media), [](HeadBuffer&) {}, body);
}

// Writes a limit's configured body with its placeholders filled in.
template <class Out>
void write_own_body(
    Out& out, const LimitedReply& reply, const RetryAfter& after, std::string_view request_id) {
    std::string_view text = reply.body;
    for (std::size_t brace; (brace = text.find('{')) != std::string_view::npos;) {
        out << text.substr(0, brace);
        text.remove_prefix(brace);
        const auto known = std::find_if(
            reply_placeholders.begin(), reply_placeholders.end(),
            [&](std::string_view each) { return text.starts_with(each); });
        switch (known - reply_placeholders.begin()) {
        case 0:
            out << after.seconds;
            break;
        case 1:
            out << after.ms;
            break;
        case 2:
            out << reply.limit;
            break;
        case 3:
            out << request_id;
            break;
        default:
            out << "{";
        }
        text.remove_prefix(known == reply_placeholders.end() ? 1 : known->size());
    }
    out << text;
}

} // namespace

void make_problem(Response& to, const ReplyContext& context, int status, std::string_view detail) {
    make_plain_problem(to, context, status, detail, [status](HeadBuffer& head) {
        if (status == 405)
            head.field("Allow", common_methods);
    });
}

void make_turned_away(Response& to, int status, std::string_view detail) {
    make_plain_problem(
        to, {}, status, detail, [](HeadBuffer& head) { head << "Retry-After: 1\r\n"; });
}

void make_method_not_allowed(Response& to, const ReplyContext& context, std::string_view allow) {
    make_plain_problem(
        to, context, 405, "This path does not serve the request's method.",
        [allow](HeadBuffer& head) { head.field("Allow", allow); });
}

void make_options(Response& to, const ReplyContext& context, std::string_view allow) {
    const auto fields = [&](HeadBuffer& head) {
        head.field("Allow", allow.empty() ? common_methods : allow);
    };
    make_reply(to, context, 200, "text/plain", fields, [](auto&) {});
}

void make_no_content(Response& to) {
    to.begin(204, {});
    to.set_content(Response::Content::none);
}

void make_unauthorized(Response& to, const ReplyContext& context, std::string_view detail) {
    make_plain_problem(
        to, context, 401, detail, [](HeadBuffer& head) { head << "WWW-Authenticate: Bearer\r\n"; });
}

void make_denied(
    Response& to, const ReplyContext& context, std::string_view limit, std::string_view detail) {
    make_turned_down(to, context, 403, {"limit", limit}, detail);
}

void make_fenced_off(
    Response& to, const ReplyContext& context, std::string_view lock, std::string_view detail) {
    make_turned_down(to, context, 412, {"lock", lock}, detail);
}

void make_limited(Response& to, const ReplyContext& context, const LimitedReply& reply) {
    const RetryAfter after =
        reply.why == LimitedReply::Why::cost ? RetryAfter{} : RetryAfter{reply.retry_after};
    const auto fields = [&](HeadBuffer& head) {
        if (after.ever())
            write_retry_after(head, after);
        if (!reply.ticket.empty())
            head.field("X-Stint-Ticket", reply.ticket);
    };
    if (!reply.content_type.empty())
        return make_reply(
            to, context, reply.status, reply.content_type, fields,
            [&](HeadBuffer& sink) { write_own_body(sink, reply, after, context.request_id); });
    const auto detail = [&](auto& text) {
        text << "The limit " << reply.limit << describe(reply.why);
        if (after.ever())
            text << "; retry in " << after.seconds << " s";
        text << ".";
    };
    const auto members = [&](HeadBuffer& sink) {
        sink << R"(,"violated-policies":[")";
        write_json_text(sink, reply.limit);
        for (const std::string_view other : reply.others) {
            sink << R"(",")";
            write_json_text(sink, other);
        }
        sink << R"("],"limit":")";
        write_json_text(sink, reply.limit);
        sink << "\"";
        if (after.ever())
            sink << R"(,"retry_after_ms":)" << after.ms;
    };
    const auto body = [&](HeadBuffer& sink) {
        write_problem_body(sink, context.media, reply.status, quota_exceeded, detail, members);
    };
    make_reply(to, context, reply.status, content_type(context.media), fields, body);
}

void make_paused(Response& to, const ReplyContext& context, const PausedReply& reply) {
    const RetryAfter after{reply.retry_after};
    const auto fields = [&](HeadBuffer& head) { write_retry_after(head, after); };
    const auto detail = [&](auto& text) {
        if (reply.upstream.empty())
            text << "The limit " << reply.limit << " is paused, as its callers were asked to";
        else
            text << "The upstream " << reply.upstream
                 << (reply.paced ? " takes no more for now" : " asked for a pause");
        text << "; retry in " << after.seconds << " s.";
    };
    const auto members = [&](HeadBuffer& sink) {
        sink << (reply.upstream.empty() ? R"(,"limit":")" : R"(,"upstream":")");
        write_json_text(sink, reply.upstream.empty() ? reply.limit : reply.upstream);
        sink << R"(","retry_after_ms":)" << after.ms;
    };
    const ProblemKind& kind = reply.status == 429 ? quota_exceeded : reduced_capacity;
    const auto body = [&](HeadBuffer& sink) {
        write_problem_body(sink, context.media, reply.status, kind, detail, members);
    };
    make_reply(to, context, reply.status, content_type(context.media), fields, body);
}

void make_unavailable(
    Response& to, const ReplyContext& context, std::string_view detail, Duration retry_after) {
    const RetryAfter after{retry_after};
    const auto sentence = [&](auto& text) {
        text << "Stint cannot serve this request now: " << detail << "; retry in " << after.seconds
             << " s.";
    };
    const auto members = [&](HeadBuffer& sink) { sink << R"(,"retry_after_ms":)" << after.ms; };
    const auto body = [&](HeadBuffer& sink) {
        write_problem_body(sink, context.media, 503, reduced_capacity, sentence, members);
    };
    make_reply(
        to, context, 503, content_type(context.media),
        [&](HeadBuffer& head) { write_retry_after(head, after); }, body);
}

Duration with_jitter(Duration retry_after, Duration most, std::uint64_t random) noexcept {
    const Duration room = std::min(most, Duration::max() - retry_after);
    const auto whole = std::chrono::floor<std::chrono::milliseconds>(room).count();
    const auto choices = static_cast<std::uint64_t>(std::max<std::int64_t>(whole, 0)) + 1;
    return retry_after + std::chrono::milliseconds{random % choices};
}

} // namespace stint::http
