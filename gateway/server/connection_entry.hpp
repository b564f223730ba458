// Entry of a new connection: PROXY header, connection slot of its client, TLS; before its first
// request.
#pragma once

#include "net/types.hpp"

#include <cstdint>

namespace stint::server {

class Http1Connection;

enum class Entry : std::uint8_t {
    served,
    closed,  // close the connection at once
    refused, // the refusal was sent: close after a while, as the client may be sending
};

// Receives the PROXY header that the listener expects, acquires a connection slot of the client and
// runs the TLS handshake, all within head_timeout. Returns Entry::served if requests may follow.
[[nodiscard]] net::Task<Entry> enter(Http1Connection& connection);

// Acquires a connection slot of the client of a connection that another process has let in, even if
// the client has as many as it may have.
void enter_again(Http1Connection& connection);

// Finds out whether the client of a connection that was entered speaks HTTP/2: by ALPN, or, where
// the listener's options allow it, by the connection preface (RFC 9113 section 3.4). Waits for the
// preface within head_timeout. The bytes received stay where they are.
[[nodiscard]] net::Task<bool> speaks_http2(Http1Connection& connection);

} // namespace stint::server
