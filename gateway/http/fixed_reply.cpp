#include "http/fixed_reply.hpp"

#include "http/field_edits.hpp"
#include "http/location.hpp"
#include "http/reply_writer.hpp"
#include "http/status_line.hpp"

namespace stint::http {

namespace {

constexpr bool may_have_body(int status) noexcept {
    return status != 204 && status != 205 && status != 304;
}

} // namespace

std::size_t write_fixed_reply(
    HeadBuffer& out,
    const ReplyContext& context,
    const FixedAnswer& answer,
    const PlaceholderValues& values) {
    write_status_line(out, answer.status, reason_phrase(answer.status));
    if (!answer.names_server)
        out << "Server: stint\r\n";
    out.field("Date", context.date);
    if (!answer.content_type.empty())
        out.field("Content-Type", answer.content_type);
    const bool has_length = answer.status != 204 && answer.status != 304;
    if (has_length)
        out << "Content-Length: ";
    const std::size_t length_at = out.size();
    if (has_length)
        out << "\r\n";
    if (!answer.location.empty()) {
        out << "Location: ";
        write_location(out, answer.location, values);
        out << "\r\n";
    }
    write_set_fields(out, answer.fields, values);
    if (context.policies != nullptr)
        write_policy_fields(out, *context.policies);
    out.field("X-Request-Id", context.request_id);
    write_connection(out, context);
    out << "\r\n";
    if (!has_length)
        return 0;
    return write_body_and_length(out, context, length_at, [&](HeadBuffer& body) {
        if (may_have_body(answer.status))
            answer.body.write(body, values);
    });
}

} // namespace stint::http
