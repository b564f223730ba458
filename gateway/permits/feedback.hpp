// Feedback of callers about upstreams that they asked themselves: begins the pause that a proxied
// response would have begun.
#pragma once

#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "permits/acquire_request.hpp"
#include "permits/shared.hpp"
#include "proxy/context.hpp"

namespace stint::permits {

// Begins a route's cooldown, as if the upstream had answered a request of the route; or a limit's
// pause: it grants nothing until the pause is over. Appends the whole response.
void take_feedback(
    proxy::Context& context,
    Shared& shared,
    const FeedbackRequest& ask,
    http::HeadBuffer& out,
    const http::ReplyContext& reply);

} // namespace stint::permits
