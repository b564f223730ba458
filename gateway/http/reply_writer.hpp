// The head and the body of an answer of the gateway's own. Internal to who writes such answers.
#pragma once

#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "http/problem_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::http {

// write_fields(out) adds fields to the head; write_body(sink) is called twice, for the length too.
template <class WriteFields, class WriteBody>
std::size_t write_reply(
    HeadBuffer& out,
    const ReplyContext& context,
    int status,
    std::string_view content_type,
    WriteFields write_fields,
    WriteBody write_body) {
    Length length;
    write_body(length);

    out << "HTTP/1.1 " << static_cast<std::uint64_t>(status) << " " << reason_phrase(status)
        << "\r\nServer: stint\r\n";
    out.field("Date", context.date);
    out.field("Content-Type", content_type);
    out << "Cache-Control: no-store\r\nContent-Length: " << std::uint64_t{length.bytes()} << "\r\n";
    write_fields(out);
    if (context.policies != nullptr)
        write_policy_fields(out, *context.policies);
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

} // namespace stint::http
