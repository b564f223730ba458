// The bounds of each HTTP/2 connection of a listener. docs/http2.md says what they may cost.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stint {

struct Http2Bounds {
    std::uint32_t max_streams = 100;        // open at once
    std::uint32_t max_waiting_streams = 20; // the most of them that wait in a queue
    // After so many the connection is drained, so that a balancer's connections spread anew. 0: no
    // bound.
    std::uint32_t max_requests = 10'000;
    std::size_t stream_window = 65'536; // bytes of a request's body that may come unread
    std::size_t connection_window = 1'048'576;
    std::uint32_t max_glitches = 500; // so many close the connection: see server::Glitches
};

} // namespace stint
