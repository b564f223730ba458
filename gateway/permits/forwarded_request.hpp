// Forward-auth: rebuilds the request that another proxy asks about from its X-Forwarded-* fields.
// Pure.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"

#include <string>
#include <string_view>

namespace stint::permits {

// Writes the head of the described request to `out`, as its client may have sent it. Method, host
// and target come from X-Forwarded-Method, -Host and -Uri. All other fields come from the asking
// request, except those of its own connection and body. Does not check for characters that a head
// must not contain: the parser of `out` refuses them. The error is a sentence for the operator of
// the asking proxy: each of the three fields must be there exactly once, and `client_field` at
// least once. client_field: the field that names the client, in lower case. has_token:
// Authorization is the asking proxy's own and is left out.
[[nodiscard]] Result<void, std::string> write_forwarded_request(
    std::string& out, const RequestHead& asking, std::string_view client_field, bool has_token);

} // namespace stint::permits
