// Forward-auth: another proxy asks whether a request that it describes may go on.
#pragma once

#include "base/message.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "proxy/context.hpp"
#include "routing/client_address.hpp"
#include "routing/route.hpp"

namespace stint::permits {

// Whether a limit of a route is charged by check(). Caps and what is settled by the answer need the
// request's end, which nobody tells.
[[nodiscard]] bool can_check(const routing::RouteLimit& limit) noexcept;

// Appends the whole response: 200, or what the proxy itself would have answered. The request is
// routed, keyed and charged as one that comes through a listener (permits/forwarded_request.hpp);
// limits that let wait refuse at once, and nobody overtakes who waits before them. Of what cannot
// be checked X-Stint-Not-Checked tells, and `not_checked` of the 200.
//  - X-Forwarded-* are believed of a peer in trusted_proxies, or with a token; else 403.
//  - ?deny_status=403, for a proxy that knows no other: whatever the described request would be
//    answered goes out with that status, and X-Stint-Status says which it is.
//  - What is wrong with the asking request itself keeps its own status, 400 or 403.
// The head's fields are not good any more afterwards: the worker's parser has read another.
// Threads: the worker's.
void check(
    proxy::Context& context,
    const RequestHead& asking,
    const routing::ClientAddress& peer,
    bool has_token,
    http::HeadBuffer& out,
    http::ReplyContext reply);

} // namespace stint::permits
