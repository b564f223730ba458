// Feedback of callers about upstreams that they asked themselves: begins the pause that a proxied
// response would have begun.
#pragma once

#include "http/response.hpp"
#include "permits/acquire_request.hpp"
#include "permits/shared.hpp"
#include "proxy/context.hpp"

namespace stint::permits {

// Begins a route's cooldown, as if the upstream had answered a request of the route; or a limit's
// pause: it grants nothing until the pause is over. Makes the response.
void take_feedback(
    proxy::Context& context, Shared& shared, const FeedbackRequest& ask, http::Response& to);

} // namespace stint::permits
