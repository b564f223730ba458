// Tells of the ends of connections that nobody reads, with one system call for all of them.
#pragma once

#include "base/descriptor.hpp"

namespace stint::net {

// An epoll instance beside the event loop's: that one tells of a FIN only to who would read what
// comes before it. Not thread-safe.
class EndEvents {
  public:
    // From now on next() returns `whom` once the socket was reset or, with `or_closed`, once its
    // peer has closed its sending side; also if that has happened already. Ends when the socket is
    // closed, which has to be before `whom` is destroyed. False: no descriptor, or no memory.
    [[nodiscard]] bool watch(int socket, void* whom, bool or_closed) noexcept;
    // One of those that have ended since, each once; nullptr: none.
    [[nodiscard]] void* next() noexcept;

  private:
    Descriptor epoll_; // once there is anybody
};

} // namespace stint::net
