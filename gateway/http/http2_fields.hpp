// The fields of an HTTP/2 response (RFC 9113 section 8.3.2), from the head that is written for
// HTTP/1: what is sent is decided in one place.
#pragma once

#include <string_view>
#include <vector>

namespace stint::http {

struct Http2Field {
    std::string_view name; // in any case: it is sent in lower case
    std::string_view value;
    bool unique = false; // differs from response to response: not worth a place in HPACK's table
};

// Sets `into` to the fields of a head in HTTP/1: ":status" first, without the fields that concern
// an HTTP/1 connection. head: "HTTP/1.1 200 OK" CRLF, lines, an empty line. The views point into
// `head`.
void fields_of_response(std::string_view head, std::vector<Http2Field>& into);

// Sets `into` to the fields of trailer lines, each with CRLF.
void fields_of_trailer(std::string_view lines, std::vector<Http2Field>& into);

} // namespace stint::http
