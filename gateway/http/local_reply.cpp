#include "http/local_reply.hpp"

#include "http/json_text.hpp"

#include <algorithm>

namespace stint::http {

namespace {

// What a gateway in front of any API can forward; an answer of 405 must state something (RFC 9110
// section 15.5.6) even when the request never got as far as a route.
constexpr std::string_view common_methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

// A sink that only counts: a body's length stands before the body.
class Length {
  public:
    Length& operator<<(std::string_view text) noexcept {
        bytes_ += text.size();
        return *this;
    }
    Length& operator<<(std::uint64_t number) noexcept {
        do
            ++bytes_;
        while ((number /= 10) != 0);
        return *this;
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  private:
    std::size_t bytes_ = 0;
};

// write_fields(out) adds fields to the head; write_body(sink) is called twice, for the length too.
template <class WriteFields, class WriteBody>
std::size_t write_reply(
    HeadBuffer& out,
    const ReplyContext& context,
    int status,
    WriteFields write_fields,
    WriteBody write_body) {
    Length length;
    write_body(length);

    out << "HTTP/1.1 " << static_cast<std::uint64_t>(status) << " " << reason_phrase(status)
        << "\r\nServer: stint\r\n";
    out.field("Date", context.date);
    out << "Content-Type: application/problem+json\r\nCache-Control: no-store\r\nContent-Length: "
        << std::uint64_t{length.bytes()} << "\r\n";
    write_fields(out);
    if (!context.request_id.empty())
        out.field("X-Request-Id", context.request_id);
    if (!context.keep_alive)
        out << "Connection: close\r\n";
    else if (context.client_minor == 0)
        out << "Connection: keep-alive\r\n";
    out << "\r\n";
    if (context.head_request)
        return 0;
    write_body(out);
    return length.bytes();
}

std::size_t write_plain_problem(
    HeadBuffer& out,
    const ReplyContext& context,
    int status,
    std::string_view detail,
    std::string_view allow) {
    const auto fields = [&](HeadBuffer& head) {
        if (!allow.empty())
            head.field("Allow", allow);
    };
    const auto body = [&](auto& sink) {
        sink << R"({"type":"about:blank","title":")" << reason_phrase(status) << R"(","status":)"
             << static_cast<std::uint64_t>(status);
        if (!detail.empty()) {
            sink << R"(,"detail":")";
            write_json_text(sink, detail);
            sink << "\"";
        }
        sink << "}\n";
    };
    return write_reply(out, context, status, fields, body);
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

} // namespace

std::size_t
write_problem(HeadBuffer& out, const ReplyContext& context, int status, std::string_view detail) {
    return write_plain_problem(
        out, context, status, detail, status == 405 ? common_methods : std::string_view{});
}

std::size_t
write_method_not_allowed(HeadBuffer& out, const ReplyContext& context, std::string_view allow) {
    return write_plain_problem(
        out, context, 405, "This path does not serve the request's method.", allow);
}

std::size_t write_limited(HeadBuffer& out, const ReplyContext& context, const LimitedReply& reply) {
    const bool ever = reply.why != LimitedReply::Why::cost;
    const Duration wait = ever ? reply.retry_after : Duration{};
    const auto seconds = static_cast<std::uint64_t>(retry_after_seconds(wait));
    const auto ms = static_cast<std::uint64_t>(std::max<std::int64_t>(ceil_ms(wait), 1));
    const auto fields = [&](HeadBuffer& head) {
        if (ever)
            head << "Retry-After: " << seconds << "\r\nRetry-After-Ms: " << ms << "\r\n";
    };
    const auto body = [&](auto& sink) {
        sink << R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",)"
             << R"("title":"Quota exceeded","status":429,"detail":"The limit )";
        write_json_text(sink, reply.limit);
        sink << describe(reply.why);
        if (ever)
            sink << "; retry in " << seconds << " s";
        sink << R"(.","violated-policies":[")";
        write_json_text(sink, reply.limit);
        sink << R"("],"limit":")";
        write_json_text(sink, reply.limit);
        sink << "\"";
        if (ever)
            sink << R"(,"retry_after_ms":)" << ms;
        sink << "}\n";
    };
    return write_reply(out, context, 429, fields, body);
}

} // namespace stint::http
