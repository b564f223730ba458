// What callers tell of upstreams that they asked themselves: the pause that a proxied answer would
// have begun.
#pragma once

#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "permits/acquire_request.hpp"
#include "permits/shared.hpp"
#include "proxy/context.hpp"

namespace stint::permits {

// Of a route: its cool-down, as if the upstream had answered a request of it. Of a limit: nothing
// is taken of it until the pause is over. Appends the whole response.
void take_feedback(
    proxy::Context& context,
    Shared& shared,
    const FeedbackRequest& ask,
    http::HeadBuffer& out,
    const http::ReplyContext& reply);

} // namespace stint::permits
