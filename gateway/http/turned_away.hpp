// The answer to a connection that is not served, sent before anything of it was read.
#pragma once

#include "http/head_buffer.hpp"

#include <string_view>

namespace stint::http {

// A whole response that ends its connection is appended to `out`: a problem document (RFC 9457)
// with Retry-After: 1. date: IMF-fixdate, see DateClock. detail needs no escape.
void write_turned_away(HeadBuffer& out, std::string_view date, int status, std::string_view detail);

} // namespace stint::http
