// Feedback of clients about upstreams that they call directly: a reported 429 or 503 begins the
// pause that the same response to a proxied request would have begun.
#pragma once

#include "http/response.hpp"
#include "permits/acquire_request.hpp"
#include "permits/shared.hpp"
#include "proxy/context.hpp"

namespace stint::permits {

// Begins the cooldown of the reported route, as if a proxied request had got the reported response.
// Or pauses the reported limit, which grants nothing until the pause ends. Writes the reply into
// `to`.
void take_feedback(
    proxy::Context& context, Shared& shared, const FeedbackRequest& ask, http::Response& to);

} // namespace stint::permits
