#include "net/inherited_sockets.hpp"

#include "net/address.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

namespace stint::net {
namespace {

bool is_on(int socket, int option) {
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 && value != 0;
}

bool is_stream(int socket) {
    int type = 0;
    socklen_t size = sizeof type;
    return ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

std::optional<Endpoint> address_of(int socket) {
    Endpoint address;
    auto size = static_cast<socklen_t>(address.capacity());
    if (::getsockname(socket, address.data(), &size) != 0)
        return std::nullopt;
    address.resize(size);
    return address;
}

// The kernel tells a Unix socket's path with the bytes behind it, or without.
bool same(const Endpoint& one, const Endpoint& other) {
    if (is_unix(one) != is_unix(other))
        return false;
    return is_unix(one) ? to_text(one) == to_text(other) : one == other;
}

} // namespace

InheritedSockets::InheritedSockets(int first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        add(Descriptor{first + static_cast<int>(i)});
}

InheritedSockets::InheritedSockets(
    std::vector<Descriptor> sockets, std::vector<std::string> own_files)
    : own_files_{std::move(own_files)} {
    for (Descriptor& each : sockets)
        add(std::move(each));
}

void InheritedSockets::add(Descriptor socket) {
    auto address = address_of(socket.get());
    if (!address || !is_stream(socket.get()) || !is_on(socket.get(), SO_ACCEPTCONN))
        return spdlog::warn("descriptor {} is no listening socket: it is closed", socket.get());
    ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
    ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
    const int on = 1;
    if (!is_unix(*address)) // accepted connections inherit it
        ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockets_.push_back({std::move(*address), std::move(socket)});
}

std::optional<Result<ListeningSockets>>
InheritedSockets::take(const Endpoint& address, std::size_t count) {
    ListeningSockets taken{address, {}};
    taken.inherited = true;
    for (Inherited& each : sockets_)
        if (same(each.address, address)) {
            taken.address = each.address;
            taken.sockets.push_back(std::move(each.socket));
        }
    if (taken.sockets.empty())
        return std::nullopt;
    std::erase_if(sockets_, [](const Inherited& each) { return each.socket.get() < 0; });
    if (is_unix(taken.address) &&
        std::ranges::find(own_files_, to_text(taken.address)) != own_files_.end())
        taken.file = socket_file_of(taken.address);
    for (std::size_t next = 0; taken.sockets.size() < count; ++next) {
        Descriptor copy{::fcntl(taken.sockets[next].get(), F_DUPFD_CLOEXEC, 0)};
        if (copy.get() < 0)
            return Result<ListeningSockets>{
                boost::system::in_place_error, ErrorCode{errno, boost::system::system_category()}};
        taken.sockets.push_back(std::move(copy));
    }
    return Result<ListeningSockets>{std::move(taken)};
}

std::vector<std::string> InheritedSockets::close_rest() {
    std::vector<std::string> rest;
    for (const Inherited& each : sockets_)
        rest.push_back(to_text(each.address));
    sockets_.clear();
    return rest;
}

} // namespace stint::net
