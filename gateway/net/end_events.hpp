// Reports the ends of connections that are not being read, with one system call for all of them.
#pragma once

#include "base/descriptor.hpp"

namespace stint::net {

// An epoll instance besides the event loop's. The loop's own instance reports a FIN only to a
// reader that has read all bytes before it. Not thread-safe.
class EndEvents {
  public:
    // Makes next() return `whom` once the socket was reset or, with `or_closed`, once its peer has
    // closed its sending side; also if that has happened already. The watch ends when the socket is
    // closed, which has to be before `whom` is destroyed. Returns false if there is no descriptor
    // or no memory.
    [[nodiscard]] bool watch(int socket, void* whom, bool or_closed) noexcept;
    // Ends the watch of a socket that stays open. No effect on one that is not watched.
    void forget(int socket) noexcept;
    // Returns the `whom` of a socket that has ended, once for each end; nullptr if there is none.
    [[nodiscard]] void* next() noexcept;

  private:
    Descriptor epoll_; // opened by the first watch()
};

} // namespace stint::net
