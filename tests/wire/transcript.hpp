// Bytes as rows write them down. Reads messages for itself, so that the gateway's own parser does
// not judge its own work: heads end with an empty line, bodies where framing says, nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stint::wire {

struct Requests {
    std::string text; // of whole requests, and of the last one if it was cut off
    std::size_t heads = 0;
    std::size_t whole = 0;
};

struct Reading {
    bool whole_hops = false; // nothing is left out but the request's id, of which "{id}" is left
    bool tunnel = false;     // behind the first request come bytes of another protocol
};

// What an upstream has seen on one connection.
[[nodiscard]] Requests read_requests(std::string_view bytes, Reading how);

// What a client has got; head: it has asked with HEAD; ended: the connection is closed.
[[nodiscard]] std::string read_responses(std::string_view bytes, bool head, bool ended);

} // namespace stint::wire
