#include "http/response_writer.hpp"

#include "http/local_reply.hpp"
#include "http/status_line.hpp"

#include <cstdint>

namespace stint::http {

void write_response(HeadBuffer& out, const Response& response, const ResponseTerms& terms) {
    using Content = Response::Content;
    write_status_line(out, response.status(), reason_phrase(response.status()));
    if (!response.names_server())
        out << "Server: stint\r\n";
    out.field("Date", terms.date);
    if (!response.content_type().empty())
        out.field("Content-Type", response.content_type());
    if (response.no_store())
        out << "Cache-Control: no-store\r\n";
    const std::string_view body = response.body_text();
    if (response.content() == Content::whole)
        out << "Content-Length: " << std::uint64_t{body.size()} << "\r\n";
    out << response.field_lines();
    if (!terms.keep_alive || response.content() == Content::begun)
        out << "Connection: close\r\n";
    else if (terms.client_minor == 0)
        out << "Connection: keep-alive\r\n";
    out << "\r\n";
    if (!terms.head_request && response.content() != Content::none)
        out << body;
}

} // namespace stint::http
