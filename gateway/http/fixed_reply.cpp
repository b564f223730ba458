#include "http/fixed_reply.hpp"

#include "http/field_edits.hpp"
#include "http/location.hpp"
#include "http/problem_writer.hpp"

#include <cstdint>

namespace stint::http {

namespace {

constexpr bool may_have_body(int status) noexcept {
    return status != 204 && status != 205 && status != 304;
}

void write_connection(HeadBuffer& out, const ReplyContext& context) {
    if (!context.keep_alive)
        out << "Connection: close\r\n";
    else if (context.client_minor == 0)
        out << "Connection: keep-alive\r\n";
}

} // namespace

std::size_t write_fixed_reply(
    HeadBuffer& out,
    const ReplyContext& context,
    const FixedAnswer& answer,
    const PlaceholderValues& values) {
    Length length;
    if (may_have_body(answer.status))
        answer.body.write(length, values);
    out << "HTTP/1.1 " << static_cast<std::uint64_t>(answer.status) << " "
        << reason_phrase(answer.status) << "\r\n";
    if (!answer.names_server)
        out << "Server: stint\r\n";
    out.field("Date", context.date);
    if (!answer.content_type.empty())
        out.field("Content-Type", answer.content_type);
    if (answer.status != 204 && answer.status != 304)
        out << "Content-Length: " << std::uint64_t{length.bytes()} << "\r\n";
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
    if (context.head_request || length.bytes() == 0)
        return 0;
    answer.body.write(out, values);
    return length.bytes();
}

} // namespace stint::http
