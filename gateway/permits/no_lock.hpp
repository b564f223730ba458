// What is answered about a lock that is not there.
#pragma once

#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"

#include <string_view>

namespace stint::permits {

// 404, by a problem document that names the lock (type, title, status, detail, lock): by that it is
// told from a proxy's 404.
void write_no_lock(
    http::HeadBuffer& out,
    const http::ReplyContext& context,
    std::string_view lock,
    std::string_view detail);

} // namespace stint::permits
