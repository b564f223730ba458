// Taking connections from a listening socket.
#pragma once

#include "base/error.hpp"
#include "net/types.hpp"

namespace stint::net {

// The next connection that waits at a socket of open_listeners(), and who is connected; the error
// is would_block where none waits. Never waits, never throws. Thread: the acceptor's worker.
[[nodiscard]] Socket accept_now(Acceptor& acceptor, Endpoint& peer, ErrorCode& error) noexcept;

} // namespace stint::net
