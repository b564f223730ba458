// Forward-auth: another proxy asks whether it may forward a request that it describes.
#pragma once

#include "base/message.hpp"
#include "http/response.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/service.hpp"
#include "routing/client_address.hpp"

namespace stint::permits {

// Makes the response: 200, or the refusal that the proxied request would have got; or returns the
// reply that has to wait, for a turn before a limit or for a store's answer. The described request
// is routed, keyed and charged like a proxied one (permits/forwarded_request.hpp);
// admission/door.hpp lists the differences. X-Stint-Not-Checked, and `not_checked` of a 200, name
// the limits that cannot be checked.
//  - X-Forwarded-* are trusted from a peer in trusted_proxies, or with a token; else 403.
//  - ?deny_status=403, for a proxy that accepts no other refusal: any answer but 200 to the
//    described request is sent as 403, with the original status in X-Stint-Status.
//  - Errors in the asking request itself keep their own status, 400 or 403.
// The fields of `asking` are invalid afterwards: the worker's parser has read another head.
// Threads: the worker's.
[[nodiscard]] PendingPtr check(
    Service& service,
    const RequestHead& asking,
    const server::ConnectionInfo& connection,
    bool has_token,
    http::Response& to);

} // namespace stint::permits
