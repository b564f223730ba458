// The gateway's own responses as HTTP/1.1 sends them (RFC 9112).
#pragma once

#include "http/head_buffer.hpp"
#include "http/response.hpp"

#include <string_view>

namespace stint::http {

// The connection's part of a response.
struct ResponseTerms {
    std::string_view date;     // IMF-fixdate, see DateClock
    bool head_request = false; // the head only, with the Content-Length of the whole
    bool keep_alive = true;    // otherwise "Connection: close"
    int client_minor = 1;      // a 1.0 client that keeps its connection gets "keep-alive"
};

// Appends the response. If its content goes on, the connection is closed at its end. Allocates
// nothing but in `out`.
void write_response(HeadBuffer& out, const Response& response, const ResponseTerms& terms);

} // namespace stint::http
