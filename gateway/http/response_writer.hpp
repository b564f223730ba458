// Serialises the gateway's own responses in HTTP/1.1 (RFC 9112).
#pragma once

#include "http/head_buffer.hpp"
#include "http/response.hpp"

#include <string_view>

namespace stint::http {

// The connection's contribution to a response.
struct ResponseTerms {
    std::string_view date;     // IMF-fixdate, see DateClock
    bool head_request = false; // answers HEAD: only the head, with the whole Content-Length
    bool keep_alive = true;    // otherwise "Connection: close"
    int client_minor = 1;      // 0: a client of HTTP/1.0, which has to be told "keep-alive"
};

// Appends the response to `out`. A Content::begun response closes the connection at its end.
// Allocates nothing but in `out`.
void write_response(HeadBuffer& out, const Response& response, const ResponseTerms& terms);

} // namespace stint::http
