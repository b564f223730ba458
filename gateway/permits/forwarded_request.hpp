// The request that another proxy asks about (forward-auth), as X-Forwarded-* describe it. Pure.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"

#include <string>
#include <string_view>

namespace stint::permits {

// Writes its head, as its client may have sent it, to `out`: the method, host and target of
// X-Forwarded-Method, -Host and -Uri, and what else the asking request has, but for what belongs to
// that one's connection and body. What is forbidden in a head is left for the parser to find. The
// error is a sentence for whoever set up the asking proxy: each of these, and the field that names
// the client, must be there once. client_field: in lower case. has_token: Authorization is the
// asking proxy's own.
[[nodiscard]] Result<void, std::string> write_forwarded_request(
    std::string& out, const RequestHead& asking, std::string_view client_field, bool has_token);

} // namespace stint::permits
