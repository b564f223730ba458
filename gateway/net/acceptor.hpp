// Listening sockets: one a worker on the same address, and nobody else's beside them.
#pragma once

#include "base/error.hpp"
#include "net/types.hpp"

#include <cstddef>
#include <vector>

namespace stint::net {

// A file descriptor that is closed with its owner.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_{fd} {}
    Descriptor(Descriptor&& other) noexcept : fd_{other.release()} {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor() { reset(); }

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] int release() noexcept;
    void reset() noexcept;

  private:
    int fd_ = -1;
};

struct ListeningSockets {
    Endpoint address;                // with the port the kernel chose, where 0 was asked for
    std::vector<Descriptor> sockets; // `count` of them, listening
};

// Opens `count` listening sockets on `address`. A TCP address gets a socket each with SO_REUSEPORT,
// so that the kernel spreads connections; the first is bound without it, because SO_REUSEPORT alone
// would let a second process of the same user in silently. A Unix socket is one socket, duplicated;
// a stale file of a process that died is replaced, a live one is "address in use". TCP_NODELAY is
// set here and inherited by what is accepted.
[[nodiscard]] Result<ListeningSockets> open_listeners(const Endpoint& address, std::size_t count);

// Removes a Unix socket's file when its listener ends; does nothing for other addresses.
void remove_socket_file(const Endpoint& address) noexcept;

} // namespace stint::net
