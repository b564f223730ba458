#include "net/accept.hpp"

#include <cerrno>
#include <new>
#include <sys/socket.h>
#include <utility>

namespace stint::net {
namespace {

// A socket that spares each connection two system calls. Asio assumes that a descriptor it is
// handed is blocking and may have copies: it makes it non-blocking, and takes it out of epoll
// before it closes it. A descriptor from accept4 is non-blocking and has no copies.
class AcceptedSocket : public Socket {
  public:
    explicit AcceptedSocket(const Executor& executor) : Socket{executor} {}

    ErrorCode adopt(const Protocol& protocol, Descriptor accepted) noexcept {
        ErrorCode error;
        try {
            assign(protocol, accepted.get(), error);
        } catch (const std::bad_alloc&) {
            error = asio::error::no_memory;
        }
        if (error)
            return error;
        (void)accepted.release();
        asio::detail::socket_ops::state_type& state = impl_.get_implementation().state_;
        state |= asio::detail::socket_ops::internal_non_blocking;
        state &= static_cast<unsigned char>(~asio::detail::socket_ops::possible_dup);
        return {};
    }
};

} // namespace

Accepted accept_now(Acceptor& acceptor, ErrorCode& error) noexcept {
    Accepted accepted;
    auto size = static_cast<socklen_t>(accepted.peer.capacity());
    accepted.socket = Descriptor{::accept4(
        acceptor.native_handle(), accepted.peer.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (accepted.socket.get() < 0) {
        error.assign(errno, boost::system::system_category());
    } else {
        error.clear();
        accepted.peer.resize(size);
    }
    return accepted;
}

Socket adopt(const Executor& executor, Accepted accepted, ErrorCode& error) noexcept {
    AcceptedSocket socket{executor};
    error = socket.adopt(accepted.peer.protocol(), std::move(accepted.socket));
    return socket;
}

Socket adopt_copied(const Executor& executor, Accepted accepted, ErrorCode& error) noexcept {
    Socket socket{executor};
    try {
        socket.assign(accepted.peer.protocol(), accepted.socket.get(), error);
        if (!error) {
            (void)accepted.socket.release();
            socket.non_blocking(true, error);
        }
    } catch (const std::bad_alloc&) {
        error = asio::error::no_memory;
    }
    return socket;
}

Accepted connected(Descriptor socket) noexcept {
    Accepted made{std::move(socket), {}};
    auto size = static_cast<socklen_t>(made.peer.capacity());
    if (::getpeername(made.socket.get(), made.peer.data(), &size) != 0) {
        size = static_cast<socklen_t>(made.peer.capacity());
        (void)::getsockname(made.socket.get(), made.peer.data(), &size); // the family counts
    }
    made.peer.resize(size);
    return made;
}

Descriptor release(Socket& socket) noexcept {
    ErrorCode failed;
    const int descriptor = socket.release(failed);
    return Descriptor{failed ? -1 : descriptor};
}

Endpoint unnamed_unix_address() {
    const sockaddr address{.sa_family = AF_UNIX, .sa_data = {}};
    return Endpoint{&address, sizeof address.sa_family};
}

} // namespace stint::net
