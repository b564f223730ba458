// Fixed responses of the configuration.
#pragma once

#include "base/fixed_answer.hpp"
#include "http/local_reply.hpp"
#include "http/response.hpp"

namespace stint::http {

// Makes the response in `to`. 204, 205 and 304 have no body; 204 and 304 have no Content-Length
// either (RFC 9110 section 8.6). context.media is not used.
void make_fixed_reply(
    Response& to,
    const ReplyContext& context,
    const FixedAnswer& answer,
    const PlaceholderValues& values);

} // namespace stint::http
