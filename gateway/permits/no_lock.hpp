// The 404 reply for a lock that does not exist.
#pragma once

#include "http/response.hpp"

#include <string_view>

namespace stint::permits {

// Makes a 404 whose problem document names the lock (type, title, status, detail, lock). The member
// `lock` distinguishes this reply from another proxy's 404.
void make_no_lock(http::Response& to, std::string_view lock, std::string_view detail);

} // namespace stint::permits
