// Listening sockets that were open before the process was started, such as those of systemd's
// socket units (sd_listen_fds(3)).
#pragma once

#include "base/descriptor.hpp"
#include "net/acceptor.hpp"
#include "net/types.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace stint::net {

// Not thread-safe. Its destructor closes the sockets that were not taken.
class InheritedSockets {
  public:
    InheritedSockets() = default;
    // Takes the descriptors `first` to `first + count - 1`. Those that are no listening stream
    // sockets are closed, with a warning.
    InheritedSockets(int first, std::size_t count);

    // Takes the socket that is bound to the address, with `count` descriptors of it: the workers
    // share its queue. Nothing: there is none. Its file, if it has one, is its owner's.
    [[nodiscard]] std::optional<Result<ListeningSockets>>
    take(const Endpoint& address, std::size_t count);
    // Closes the sockets that were not taken, and returns their addresses.
    [[nodiscard]] std::vector<std::string> close_rest();

  private:
    struct Inherited {
        Endpoint address;
        Descriptor socket;
    };
    std::vector<Inherited> sockets_;
};

} // namespace stint::net
