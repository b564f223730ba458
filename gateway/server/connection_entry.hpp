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

} // namespace stint::server
