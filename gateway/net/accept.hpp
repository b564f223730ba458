// Taking connections from a listening socket.
#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "net/types.hpp"

namespace stint::net {

// A connection that belongs to no event loop yet: any worker may serve() it.
struct Accepted {
    Descriptor socket;
    Endpoint peer; // who is connected
};

// The next connection that waits at a socket of open_listeners(); the error is would_block where
// none waits. Never waits, never throws. Thread: the acceptor's worker.
[[nodiscard]] Accepted accept_now(Acceptor& acceptor, ErrorCode& error) noexcept;

// Hands it to an event loop, on its thread; the error is a shortage of memory or of descriptors.
[[nodiscard]] Socket adopt(const Executor& executor, Accepted accepted, ErrorCode& error) noexcept;

} // namespace stint::net
