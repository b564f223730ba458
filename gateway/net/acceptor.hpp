// Listening sockets: one per worker, all on the same address. No other process can listen on that
// address.
#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "net/types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace stint::net {

struct ListeningSockets {
    Endpoint address;                // with the port the kernel chose, where 0 was asked for
    std::vector<Descriptor> sockets; // `count` of them, listening
    Descriptor file = {};            // a Unix socket's file, opened with O_PATH when it was bound
    std::uint32_t group = 0;         // group of the file, as the kernel chose it
    bool inherited = false;          // open before this process: another one may serve on them
};

// Mode and group of a Unix socket's file. They decide which users may connect.
struct SocketFile {
    std::uint32_t mode = 0660;               // permission bits, independent of the umask
    std::optional<std::uint32_t> group = {}; // group id; nothing: unchanged

    bool operator==(const SocketFile&) const = default;
};

// Opens `count` listening sockets on `address`. A TCP address gets a socket each with SO_REUSEPORT,
// so that the kernel spreads connections; the first is bound without it, because SO_REUSEPORT alone
// would let a second process of the same user in silently. A Unix socket is one socket, duplicated;
// a stale file of a process that died is replaced, a live one is "address in use". TCP_NODELAY is
// set here, and accepted connections inherit it.
[[nodiscard]] Result<ListeningSockets>
open_listeners(const Endpoint& address, std::size_t count, const SocketFile& file = {});

// Sets the mode and the group of an open Unix socket's file; does nothing for other addresses. own:
// ListeningSockets::file. A file that another process has put into its place is "address in use",
// and is left alone.
[[nodiscard]] ErrorCode
set_socket_file(const Endpoint& address, const Descriptor& own, const SocketFile& file) noexcept;

// Returns the file of a Unix socket that another process has bound, as ListeningSockets::file.
[[nodiscard]] Descriptor socket_file_of(const Endpoint& address) noexcept;

// Removes a Unix socket's file when its listener ends, unless another one is in its place; does
// nothing for other addresses.
void remove_socket_file(const Endpoint& address, const Descriptor& own) noexcept;

// Tries whether addresses can be listened on, all of them together. No client can connect: the
// sockets never listen. Binds until its end, which removes the files of Unix sockets.
class AddressTrial {
  public:
    AddressTrial() = default;
    AddressTrial(const AddressTrial&) = delete;
    AddressTrial& operator=(const AddressTrial&) = delete;
    ~AddressTrial();

    // Returns the error that open_listeners() would return if it had opened the earlier addresses.
    // Leaves a stale file of a Unix socket in its place.
    [[nodiscard]] ErrorCode bind(const Endpoint& address, const SocketFile& file = {});

  private:
    std::vector<ListeningSockets> bound_; // without `listen`
};

} // namespace stint::net
