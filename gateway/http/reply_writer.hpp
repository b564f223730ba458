// The head and the body of a local reply. Internal to the code that writes local replies.
#pragma once

#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "http/problem_writer.hpp"
#include "http/status_line.hpp"

#include <cstddef>
#include <string_view>

namespace stint::http {

inline void write_connection(HeadBuffer& out, const ReplyContext& context) {
    if (!context.keep_alive)
        out << "Connection: close\r\n";
    else if (context.client_minor == 0)
        out << "Connection: keep-alive\r\n";
}

// Writes a body, and inserts its length at offset `length_at` of the head, which is written
// already: so every body is written once. A HEAD request gets only the length. Returns the number
// of bytes that follow the head.
template <class WriteBody>
std::size_t write_body_and_length(
    HeadBuffer& out, const ReplyContext& context, std::size_t length_at, WriteBody write_body) {
    const std::size_t begin = out.size();
    write_body(out);
    const std::size_t length = out.size() - begin;
    if (context.head_request)
        out.cut(begin);
    out.insert(length_at, length);
    return context.head_request ? 0 : length;
}

// Writes a local reply. write_fields(out) adds fields to the head; write_body(out) writes the body.
template <class WriteFields, class WriteBody>
std::size_t write_reply(
    HeadBuffer& out,
    const ReplyContext& context,
    int status,
    std::string_view content_type,
    WriteFields write_fields,
    WriteBody write_body) {
    write_status_line(out, status, reason_phrase(status));
    out.add(
        "Server: stint\r\nDate: ", context.date, "\r\nContent-Type: ", content_type,
        "\r\nCache-Control: no-store\r\nContent-Length: ");
    const std::size_t length_at = out.size();
    out << "\r\n";
    write_fields(out);
    if (context.policies != nullptr)
        write_policy_fields(out, *context.policies);
    if (!context.request_id.empty())
        out.field("X-Request-Id", context.request_id);
    write_connection(out, context);
    out << "\r\n";
    return write_body_and_length(out, context, length_at, write_body);
}

} // namespace stint::http
