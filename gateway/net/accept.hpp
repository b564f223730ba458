// Taking connections from a listening socket.
#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "net/types.hpp"

namespace stint::net {

// A connection that belongs to no event loop yet: any worker may adopt() it.
struct Accepted {
    Descriptor socket;
    Endpoint peer; // the address at the other end
};

// Accepts the next connection that waits at a socket of open_listeners(); the error is would_block
// if none waits. Never waits, never throws. Thread: the acceptor's worker.
[[nodiscard]] Accepted accept_now(Acceptor& acceptor, ErrorCode& error) noexcept;

// Hands the connection to an event loop, on its thread. Sets `error` if memory or descriptors are
// short.
[[nodiscard]] Socket adopt(const Executor& executor, Accepted accepted, ErrorCode& error) noexcept;

// Does the same with a socket of which another process may have a copy.
[[nodiscard]] Socket
adopt_copied(const Executor& executor, Accepted accepted, ErrorCode& error) noexcept;

// Describes a connected socket that another process has accepted. Its peer may have gone.
[[nodiscard]] Accepted connected(Descriptor socket) noexcept;

// Takes the descriptor out of its event loop, with all waits cancelled. The connection stays open.
[[nodiscard]] Descriptor release(Socket& socket) noexcept;

// The address of a Unix socket that has no name, such as one of a pair.
[[nodiscard]] Endpoint unnamed_unix_address();

} // namespace stint::net
