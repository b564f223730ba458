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
    // Takes these descriptors. own_files: addresses of Unix sockets, as to_text() gives them, whose
    // files this process is to remove.
    InheritedSockets(std::vector<Descriptor> sockets, std::vector<std::string> own_files);

    // Takes all sockets that are bound to the address, and copies them until there are `count`
    // descriptors: workers with the same socket share its queue. There may be more than `count`:
    // each has a queue in which clients wait. Nothing: there is none.
    [[nodiscard]] std::optional<Result<ListeningSockets>>
    take(const Endpoint& address, std::size_t count);
    // Closes the sockets that were not taken, and returns their addresses.
    [[nodiscard]] std::vector<std::string> close_rest();

  private:
    struct Inherited {
        Endpoint address;
        Descriptor socket;
    };
    void add(Descriptor socket);

    std::vector<Inherited> sockets_;
    std::vector<std::string> own_files_;
};

} // namespace stint::net
