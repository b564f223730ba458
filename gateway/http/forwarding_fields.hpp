// The fields that tell an upstream of the way a request has come. Internal to http/.
#pragma once

#include "base/message.hpp"
#include "http/head_buffer.hpp"
#include "http/rewrite.hpp"

namespace stint::http {

// X-Forwarded-For, -Proto and -Host, Forwarded (RFC 7239) where it is wanted or a trusted peer has
// begun it, and the other field that names the client.
void write_hops(HeadBuffer& out, const RequestHead& head, const Forwarding& forwarding);

// Via, appended to the client's (RFC 9110 section 7.6.3).
void write_via(HeadBuffer& out, const RequestHead& head);

} // namespace stint::http
