// Writing to the end.
#pragma once

#include "net/io.hpp"

namespace stint::net {

// Waits until everything is sent, or the socket fails or is closed. What `gather` points to must
// stay until then.
[[nodiscard]] Task<ErrorCode> send_all(Socket& socket, Gather gather);

} // namespace stint::net
