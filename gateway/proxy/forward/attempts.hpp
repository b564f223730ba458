// Number of a request's attempts, and the state of the last one.
#pragma once

#include "upstream/balance.hpp"

namespace stint::proxy {

struct Attempts {
    upstream::EndpointMask tried = 0; // endpoints that have failed it
    unsigned made = 1;                // with the one under way; not counting a renewed one
    bool renewed = false;             // once more because its pooled connection had died
    bool failed_over = false;         // away from an endpoint that refused its connection
    bool outcome_reported = false;    // it is known what this attempt says of the endpoint
    bool noted = false;               // counted in its upstream's retry budget
};

} // namespace stint::proxy
