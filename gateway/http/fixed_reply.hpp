// Responses with a fixed answer from the configuration.
#pragma once

#include "base/fixed_answer.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"

#include <cstddef>

namespace stint::http {

// Appends a complete response (head and body) to `out` and returns its body's length. 204, 205 and
// 304 have no body; 204 and 304 have no Content-Length either (RFC 9110 section 8.6). Allocates
// nothing after warm-up. context.media is not used.
std::size_t write_fixed_reply(
    HeadBuffer& out,
    const ReplyContext& context,
    const FixedAnswer& answer,
    const PlaceholderValues& values);

} // namespace stint::http
