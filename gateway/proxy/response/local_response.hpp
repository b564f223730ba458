// The gateway's own response to a request.
#pragma once

#include "proxy/request.hpp"

namespace stint::proxy {

// Makes the response in Context::response, by the request's outcome: a refusal, a failure, or what
// the configuration answers (its route, or its listener's redirect to https).
void make_local_response(Request& request);

// Ends the request with a redirect to https. Routes and limits do not apply to it.
void redirect_to_https(Request& request);

} // namespace stint::proxy
