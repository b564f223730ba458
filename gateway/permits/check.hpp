// Forward-auth: another proxy asks whether a request that it describes may go on.
#pragma once

#include "base/message.hpp"
#include "http/response.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/service.hpp"
#include "routing/client_address.hpp"

namespace stint::permits {

// Makes the response: 200, or what the proxy itself would have answered; or returns the
// reply that has to wait for its turn before a limit. The described request is routed, keyed and
// charged like one that comes through a listener (permits/forwarded_request.hpp), except for what
// admission/door.hpp lists. X-Stint-Not-Checked names the limits that cannot be checked, and so
// does `not_checked` of the 200.
//  - X-Forwarded-* are trusted from a peer in trusted_proxies, or with a token; else 403.
//  - ?deny_status=403, for a proxy that knows no other: any answer but 200 to the described
//    request is sent with that status, and X-Stint-Status has its own.
//  - Errors in the asking request itself keep their own status, 400 or 403.
// The head's fields are invalid afterwards: the worker's parser has read another head. Threads: the
// worker's.
[[nodiscard]] PendingPtr check(
    Service& service,
    const RequestHead& asking,
    const routing::ClientAddress& peer,
    bool has_token,
    http::Response& to);

} // namespace stint::permits
