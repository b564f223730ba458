// How much the gateway takes on at once.
#pragma once

#include <cstddef>

namespace stint {

// Each bound is for the whole gateway, not for each worker.
struct LoadBounds {
    std::size_t max_connections = 10'000;       // client connections; one more is answered by 503
    std::size_t max_connections_per_client = 0; // one more is answered by 429; 0: no bound
    std::size_t max_requests_in_flight = 0;     // proxied; one more is answered by 503; 0: no bound
};

} // namespace stint
