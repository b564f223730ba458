// Answers that stand in the configuration, as responses.
#pragma once

#include "base/fixed_answer.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"

#include <cstddef>

namespace stint::http {

// A complete response (head and body) is appended to `out` and its body's length returned. 204, 205
// and 304 have no body; 204 and 304 tell no length either (RFC 9110 section 8.6). Allocates nothing
// after warm-up. context.media is not looked at.
std::size_t write_fixed_reply(
    HeadBuffer& out,
    const ReplyContext& context,
    const FixedAnswer& answer,
    const PlaceholderValues& values);

} // namespace stint::http
