// Forward-auth: another proxy asks whether a request that it describes may go on.
#pragma once

#include "base/message.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "proxy/context.hpp"
#include "routing/client_address.hpp"
#include "routing/route.hpp"

namespace stint::permits {

// True if check() charges this limit of a route. Caps, and costs that the response settles, need
// the request's end, which check() never learns.
[[nodiscard]] bool can_check(const routing::RouteLimit& limit) noexcept;

// Appends the whole response: 200, or what the proxy itself would have answered. The described
// request is routed, keyed and charged like one that comes through a listener
// (permits/forwarded_request.hpp). A limit with a queue refuses it at once, and it never overtakes
// a waiter. X-Stint-Not-Checked lists the limits that cannot be checked, and so does `not_checked`
// of the 200.
//  - X-Forwarded-* are trusted from a peer in trusted_proxies, or with a token; else 403.
//  - ?deny_status=403, for a proxy that knows no other: any answer but 200 to the described
//    request is sent with that status, and X-Stint-Status has its own.
//  - Errors in the asking request itself keep their own status, 400 or 403.
// The head's fields are invalid afterwards: the worker's parser has read another head. Threads: the
// worker's.
void check(
    proxy::Context& context,
    const RequestHead& asking,
    const routing::ClientAddress& peer,
    bool has_token,
    http::HeadBuffer& out,
    http::ReplyContext reply);

} // namespace stint::permits
