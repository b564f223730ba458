#include "net/acceptor.hpp"

#include "net/address.hpp"
#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <libgen.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace stint::net {
namespace {

constexpr auto longest_wait_for_folder = std::chrono::milliseconds{500};

ErrorCode last_error() {
    return {errno, boost::system::system_category()};
}

void set_option(const Descriptor& socket, int level, int name) {
    const int on = 1;
    ::setsockopt(socket.get(), level, name, &on, sizeof on);
}

Result<Descriptor> bound_socket(const Endpoint& address, bool shared) {
    Descriptor socket{
        ::socket(address.data()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (socket.get() < 0)
        return {boost::system::in_place_error, last_error()};
    if (!is_unix(address)) {
        set_option(socket, SOL_SOCKET, SO_REUSEADDR);
        set_option(socket, IPPROTO_TCP, TCP_NODELAY);
        if (shared)
            set_option(socket, SOL_SOCKET, SO_REUSEPORT);
        if (address.data()->sa_family == AF_INET6)
            set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY);
    }
    if (::bind(socket.get(), address.data(), static_cast<socklen_t>(address.size())) != 0)
        return {boost::system::in_place_error, last_error()};
    return socket;
}

Result<Endpoint> local_address(const Descriptor& socket) {
    Endpoint address;
    auto size = static_cast<socklen_t>(address.capacity());
    if (::getsockname(socket.get(), address.data(), &size) != 0)
        return {boost::system::in_place_error, last_error()};
    address.resize(size);
    return address;
}

const char* path_of(const Endpoint& address) noexcept {
    return reinterpret_cast<const sockaddr_un*>(address.data())->sun_path;
}

// Locks the folder of a Unix socket: one Stint at a time opens or removes sockets there. Between
// bind() and listen() a socket looks like one whose process is gone, and another Stint would remove
// it. The folder itself is locked, because a lock file would be left behind. Any process that may
// read the folder can lock it, too, so the wait is bounded. Returns an empty descriptor if the
// folder could not be locked; the caller then goes on without the lock.
Descriptor lock_folder(const Endpoint& address) noexcept {
    char path[sizeof(sockaddr_un::sun_path)]{};
    std::memcpy(path, path_of(address), std::strlen(path_of(address)));
    Descriptor folder{::open(::dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (folder.get() < 0)
        return folder;
    const SteadyTime until = read_steady_clock() + longest_wait_for_folder;
    while (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return Descriptor{};
        if (read_steady_clock() >= until) {
            spdlog::warn(
                "{}: its folder stays locked by another process (flock)", path_of(address));
            return Descriptor{};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return folder;
}

Result<Descriptor> listening_socket(const Endpoint& address, bool shared) {
    Result<Descriptor> socket = bound_socket(address, shared);
    if (socket && ::listen(socket->get(), SOMAXCONN) != 0)
        return {boost::system::in_place_error, last_error()};
    return socket;
}

// Binds the first socket without SO_REUSEPORT, which fails if another process has the address. Sets
// SO_REUSEPORT only once that socket listens, so that two processes can never both succeed.
Result<ListeningSockets> open_tcp(const Endpoint& address, std::size_t count) {
    Result<Descriptor> first = listening_socket(address, false);
    if (!first)
        return {boost::system::in_place_error, first.error()};
    const Result<Endpoint> actual = local_address(*first);
    if (!actual)
        return {boost::system::in_place_error, actual.error()};
    set_option(*first, SOL_SOCKET, SO_REUSEPORT);
    ListeningSockets opened{*actual, {}};
    opened.sockets.push_back(std::move(*first));
    while (opened.sockets.size() < count) {
        Result<Descriptor> socket = listening_socket(opened.address, true);
        if (!socket)
            return {boost::system::in_place_error, socket.error()};
        opened.sockets.push_back(std::move(*socket));
    }
    return opened;
}

// Checks that the file at the path is still the one that `own` is open on. Its inode number cannot
// be given to another file while it is open.
ErrorCode check_in_place(const Endpoint& address, const Descriptor& own) noexcept {
    struct stat bound {};
    struct stat found {};
    if (::lstat(path_of(address), &found) != 0 || ::fstat(own.get(), &bound) != 0)
        return last_error();
    const bool same = found.st_dev == bound.st_dev && found.st_ino == bound.st_ino;
    return same && S_ISSOCK(found.st_mode)
               ? ErrorCode{}
               : boost::system::errc::make_error_code(boost::system::errc::address_in_use);
}

// Sets the mode by descriptor: chmod(2) by path would follow a symbolic link.
ErrorCode set_mode(const Endpoint& address, const Descriptor& own, std::uint32_t mode) noexcept {
    char file[32];
    std::snprintf(file, sizeof file, "/proc/self/fd/%d", own.get());
    if (::chmod(file, mode) == 0)
        return {};
    const bool no_proc = errno == ENOENT; // without /proc, only the path is left
    return no_proc && ::chmod(path_of(address), mode) == 0 ? ErrorCode{} : last_error();
}

void unlink_own(const Endpoint& address, const Descriptor& own) noexcept {
    if (!check_in_place(address, own))
        ::unlink(path_of(address));
}

// Binds a Unix socket, and gives its file the mode and the group.
Result<ListeningSockets> bound_unix_socket(const Endpoint& address, const SocketFile& file) {
    Result<Descriptor> socket = bound_socket(address, false);
    if (!socket)
        return {boost::system::in_place_error, socket.error()};
    ListeningSockets bound{
        address, {}, Descriptor{::open(path_of(address), O_PATH | O_NOFOLLOW | O_CLOEXEC)}};
    struct stat made {};
    if (bound.file.get() < 0 || ::fstat(bound.file.get(), &made) != 0) {
        const ErrorCode failed = last_error();
        ::unlink(path_of(address)); // bound above, and the folder is locked
        return {boost::system::in_place_error, failed};
    }
    bound.group = made.st_gid;
    if (const ErrorCode failed = set_socket_file(address, bound.file, file)) {
        unlink_own(address, bound.file);
        return {boost::system::in_place_error, failed};
    }
    bound.sockets.push_back(std::move(*socket));
    return bound;
}

// Listens only once the file has its mode and group: no client can connect before.
Result<ListeningSockets> listening_unix_socket(const Endpoint& address, const SocketFile& file) {
    Result<ListeningSockets> opened = bound_unix_socket(address, file);
    if (opened && ::listen(opened->sockets.front().get(), SOMAXCONN) != 0) {
        const ErrorCode failed = last_error();
        unlink_own(address, opened->file);
        return {boost::system::in_place_error, failed};
    }
    return opened;
}

// True if there is a socket file that refuses connections: then its process is gone.
bool is_stale(const Endpoint& address) {
    struct stat file {};
    if (::lstat(path_of(address), &file) != 0 || !S_ISSOCK(file.st_mode))
        return false;
    const Descriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const int connected =
        ::connect(probe.get(), address.data(), static_cast<socklen_t>(address.size()));
    return connected != 0 && errno == ECONNREFUSED;
}

// True if this process may remove the file of a Unix socket, and make another one in its place.
bool may_replace(const Endpoint& address) {
    char path[sizeof(sockaddr_un::sun_path)]{};
    std::memcpy(path, path_of(address), std::strlen(path_of(address)));
    const char* const place = ::dirname(path);
    struct stat file {};
    struct stat folder {};
    if (::lstat(path_of(address), &file) != 0 || ::stat(place, &folder) != 0 ||
        ::faccessat(AT_FDCWD, place, W_OK | X_OK, AT_EACCESS) != 0)
        return false;
    const uid_t user = ::geteuid();
    return (folder.st_mode & S_ISVTX) == 0 || user == 0 || user == file.st_uid ||
           user == folder.st_uid;
}

Result<ListeningSockets>
open_unix(const Endpoint& address, std::size_t count, const SocketFile& file) {
    const Descriptor lock = lock_folder(address);
    Result<ListeningSockets> opened = listening_unix_socket(address, file);
    if (!opened && opened.error() == boost::system::errc::address_in_use && is_stale(address) &&
        ::unlink(path_of(address)) == 0)
        opened = listening_unix_socket(address, file);
    while (opened && opened->sockets.size() < count) {
        Descriptor copy{::fcntl(opened->sockets.front().get(), F_DUPFD_CLOEXEC, 0)};
        if (copy.get() < 0) {
            const ErrorCode failed = last_error();
            unlink_own(address, opened->file);
            return {boost::system::in_place_error, failed};
        }
        opened->sockets.push_back(std::move(copy));
    }
    return opened;
}

Result<ListeningSockets> try_unix(const Endpoint& address, const SocketFile& file) {
    const Descriptor lock = lock_folder(address);
    Result<ListeningSockets> bound = bound_unix_socket(address, file);
    if (!bound && bound.error() == boost::system::errc::address_in_use && is_stale(address) &&
        may_replace(address))
        return ListeningSockets{address, {}};
    return bound;
}

Result<ListeningSockets> try_tcp(const Endpoint& address) {
    Result<Descriptor> socket = bound_socket(address, false);
    if (!socket)
        return {boost::system::in_place_error, socket.error()};
    ListeningSockets bound{address, {}};
    bound.sockets.push_back(std::move(*socket));
    return bound;
}

} // namespace

Result<ListeningSockets>
open_listeners(const Endpoint& address, std::size_t count, const SocketFile& file) {
    return is_unix(address) ? open_unix(address, count, file) : open_tcp(address, count);
}

ErrorCode
set_socket_file(const Endpoint& address, const Descriptor& own, const SocketFile& file) noexcept {
    if (!is_unix(address))
        return {};
    if (const ErrorCode failed = check_in_place(address, own))
        return failed;
    if (file.group) {
        // The file is only the owner's until the group is set: after an error it must not be open
        // to another group.
        if (const ErrorCode failed = set_mode(address, own, file.mode & 0600))
            return failed;
        constexpr auto same_owner = static_cast<uid_t>(-1);
        if (::fchownat(own.get(), "", same_owner, *file.group, AT_EMPTY_PATH) != 0)
            return last_error();
    }
    return set_mode(address, own, file.mode);
}

Descriptor socket_file_of(const Endpoint& address) noexcept {
    return Descriptor{::open(path_of(address), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
}

void remove_socket_file(const Endpoint& address, const Descriptor& own) noexcept {
    if (!is_unix(address))
        return;
    const Descriptor lock = lock_folder(address);
    unlink_own(address, own);
}

AddressTrial::~AddressTrial() {
    for (const ListeningSockets& each : bound_)
        remove_socket_file(each.address, each.file);
}

ErrorCode AddressTrial::bind(const Endpoint& address, const SocketFile& file) {
    const bool taken = std::ranges::any_of(bound_, [&](const ListeningSockets& each) {
        return is_unix(address) ? !check_in_place(address, each.file)
                                : exclude_each_other(address, each.address);
    });
    if (taken)
        return boost::system::errc::make_error_code(boost::system::errc::address_in_use);
    Result<ListeningSockets> bound = is_unix(address) ? try_unix(address, file) : try_tcp(address);
    if (!bound)
        return bound.error();
    bound_.push_back(std::move(*bound));
    return {};
}

} // namespace stint::net
