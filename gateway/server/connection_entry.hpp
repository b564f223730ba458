// Entry of a new connection: PROXY header, connection slot of its client, TLS; before its first
// request.
#pragma once

#include "net/types.hpp"

#include <cstdint>

namespace stint::server {

class Http1Connection;

enum class Entry : std::uint8_t {
    served,
    closed,  // it is not served
    refused, // it was answered, and lingers briefly: its client may be sending a request
};

// Receives the PROXY header that the listener expects, acquires a connection slot of the client and
// runs the TLS handshake, all within the time for the first head.
[[nodiscard]] net::Task<Entry> enter(Http1Connection& connection);

} // namespace stint::server
