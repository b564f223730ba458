// The listening sockets' addresses and socket files, which outlive any one configuration.
#pragma once

#include "base/error.hpp"
#include "config/schema/schema.hpp"
#include "net/acceptor.hpp"
#include "net/address.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stint::runtime {

// All addresses that are listened on: listeners of proxied traffic, and that of permits. The
// sockets themselves belong to the workers. The destructor removes the socket files; destroy it
// after the workers have ended. Used by the control thread alone.
class ListenerSet {
  public:
    using Opened = std::map<std::string, net::ListeningSockets>; // by the address as configured

    ListenerSet() = default;
    ~ListenerSet();
    ListenerSet(const ListenerSet&) = delete;
    ListenerSet& operator=(const ListenerSet&) = delete;

    // Opens a socket for each worker on every address that is not open yet. All or nothing: the
    // error is one line for a person.
    [[nodiscard]] Result<Opened, std::string>
    open_new(const config::Config& config, std::size_t workers) const;

    // Takes over the new addresses, and their files out of `opened`; the sockets stay there.
    // Removes the files of addresses that the configuration does not name any more.
    void adopt(const config::Config& config, Opened& opened);

    // Sets mode and group of the socket files that stay open. An operator's own chmod stays: only
    // what the configuration has changed is set. Adds a note for each failure.
    void set_socket_files(const config::Config& next, std::vector<std::string>& notes);

    // Returns the listeners' addresses as bound (port 0 resolved), in the configuration's order.
    [[nodiscard]] std::vector<std::string> bound_listeners(const config::Config& config) const;
    // Returns the bound address of a listener that is open.
    [[nodiscard]] std::string bound(const config::Address& address) const;

  private:
    struct Bound {
        net::Endpoint address;
        net::SocketFile file; // as it was set last
        Descriptor own = {};  // ListeningSockets::file
        std::uint32_t group;  // ListeningSockets::group
    };

    std::map<std::string, Bound> bound_; // by the address as configured
};

} // namespace stint::runtime
