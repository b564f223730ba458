// Finds the protocols that a request offers to upgrade to, and the one that a response accepts (RFC
// 9110 section 7.8).
#pragma once

#include "base/message.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// Returns the protocols of the request's Upgrade that may be offered to the upstream, as that
// field's value ("websocket, foo/2"): those with a name in `allowed` (lower case), of any version.
// Returns an empty text for an ordinary request. A request is also ordinary without the connection
// option "upgrade", on HTTP/1.0, and with a body: bytes behind its head could then be read as the
// body or as the tunnel.
[[nodiscard]] std::string
offered_protocols(const RequestHead& request, std::span<const std::string> allowed);

// Returns the protocols that a 101 switches to, as the value of Upgrade. Empty if the 101 is not to
// be trusted: it names none, or one that was not in `offer`, or is not HTTP/1.1, or lacks the
// connection option "upgrade".
[[nodiscard]] std::string chosen_protocols(const ResponseHead& answer, std::string_view offer);

// True if a 101 has the Sec-WebSocket-Accept for the request's Sec-WebSocket-Key (RFC 6455 section
// 4.1).
[[nodiscard]] bool accepts_websocket(const RequestHead& request, const ResponseHead& answer);

} // namespace stint::http
