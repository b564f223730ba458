// The request that another proxy asks about (forward-auth), as X-Forwarded-* describe it. Pure.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"

#include <string>
#include <string_view>

namespace stint::permits {

// Writes the request's head, as its client may have sent it, to `out`: method, host and target from
// X-Forwarded-Method, -Host and -Uri, and the asking request's other fields, except those of its
// own connection and body. Leaves what is forbidden in a head for the parser to find. The error is
// a sentence for whoever set up the asking proxy: each of these fields, and the one that names the
// client, must be there once. client_field: in lower case. has_token: Authorization is the asking
// proxy's own.
[[nodiscard]] Result<void, std::string> write_forwarded_request(
    std::string& out, const RequestHead& asking, std::string_view client_field, bool has_token);

} // namespace stint::permits
