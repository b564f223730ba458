// The reply about a lock that does not exist.
#pragma once

#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"

#include <string_view>

namespace stint::permits {

// Writes a 404 whose problem document names the lock (type, title, status, detail, lock): this
// distinguishes it from a proxy's 404.
void write_no_lock(
    http::HeadBuffer& out,
    const http::ReplyContext& context,
    std::string_view lock,
    std::string_view detail);

} // namespace stint::permits
