// Writes the fields that describe a request's path to an upstream. Internal to http/.
#pragma once

#include "base/message.hpp"
#include "http/head_buffer.hpp"
#include "http/rewrite.hpp"

#include <string>

namespace stint::http {

// Writes X-Forwarded-For, -Proto and -Host, Forwarded (RFC 7239) if configured or begun by a
// trusted peer, and Forwarding::client_field.
void write_hops(HeadBuffer& out, const RequestHead& head, const Forwarding& forwarding);

// Writes Via, appended to the client's (RFC 9110 section 7.6.3). pseudonym: as Forwarding::via.
void write_via(HeadBuffer& out, const RequestHead& head, const std::string* pseudonym);

} // namespace stint::http
