// The addresses and Unix socket files of all listeners, kept over reloads.
#pragma once

#include "base/error.hpp"
#include "config/schema/schema.hpp"
#include "net/acceptor.hpp"
#include "net/address.hpp"
#include "net/inherited_sockets.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stint::runtime {

// The bound addresses of the proxy listeners and the permits listener. The sockets themselves
// belong to the workers. The destructor removes Unix socket files; destroy the set after the
// workers have ended. Used by the control thread alone.
class ListenerSet {
  public:
    using Opened = std::map<std::string, net::ListeningSockets>; // by the address as configured

    ListenerSet() = default;
    ~ListenerSet();
    ListenerSet(const ListenerSet&) = delete;
    ListenerSet& operator=(const ListenerSet&) = delete;

    // Opens a socket for each worker on every address that is not open yet, or takes it from those
    // that the process was started with. If one fails, closes all of them and returns one
    // human-readable line.
    [[nodiscard]] Result<Opened, std::string> open_new(
        const config::Config& config, std::size_t workers, net::InheritedSockets& inherited) const;

    // Returns the error that open_new() would return, if any; else "". Binds the addresses for a
    // moment, in which no client can connect, and leaves nothing behind.
    [[nodiscard]] std::string refusal_of_new(const config::Config& config) const;

    // Adds the addresses in `opened` and moves their socket-file descriptors out of it; the sockets
    // stay in `opened` for the workers. Drops addresses that the configuration no longer names, and
    // removes their socket files.
    void adopt(const config::Config& config, Opened& opened);

    // Returns the addresses of Unix sockets whose files the destructor removes.
    [[nodiscard]] std::vector<std::string> own_files() const;
    // Forgets all addresses: their socket files are another process's from now on.
    void disown() noexcept { bound_.clear(); }

    // Sets mode and group of Unix socket files that stay open over a reload, where the configured
    // values have changed. Otherwise an operator's own chmod stays. Adds a line to `notes` for each
    // failure.
    void set_socket_files(const config::Config& next, std::vector<std::string>& notes);

    // Returns the listeners' addresses as bound (port 0 resolved), in the configuration's order.
    [[nodiscard]] std::vector<std::string> bound_listeners(const config::Config& config) const;
    // Returns the bound address (port 0 resolved). Requires that a listener is open on `address`.
    [[nodiscard]] std::string bound(const config::Address& address) const;

  private:
    struct Bound {
        net::Endpoint address;
        net::SocketFile file; // mode and group as last configured
        Descriptor own = {};  // moved from ListeningSockets::file
        std::uint32_t group;  // copied from ListeningSockets::group
    };

    std::map<std::string, Bound> bound_; // by the address as configured
};

} // namespace stint::runtime
