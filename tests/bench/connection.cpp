#include "connection.hpp"

#include <array>
#include <cerrno>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace stint::bench {

namespace {

void enable(int socket, int level, int option) {
    const int on = 1;
    ::setsockopt(socket, level, option, &on, sizeof on);
}

template <typename Call>
bool with_address(const sockaddr_in& address, Call call) {
    return call(reinterpret_cast<const sockaddr*>(&address), socklen_t{sizeof address}) == 0;
}

} // namespace

Connection::Connection(Connection&& other) noexcept
    : due(other.due), own(std::move(other.own)), epoll_(other.epoll_), number_(other.number_),
      socket_(std::exchange(other.socket_, -1)), state_(other.state_), events_(other.events_),
      unsent_(other.unsent_), answer_(std::move(other.answer_)) {}

bool Connection::open(const sockaddr_in& server, const std::optional<sockaddr_in>& from) {
    if (is_open())
        return true;
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0)
        return false;
    enable(socket_, IPPROTO_TCP, TCP_NODELAY);
    if (from) {
        enable(socket_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
        with_address(*from, [&](auto... address) { return ::bind(socket_, address...); });
    }
    const bool now =
        with_address(server, [&](auto... address) { return ::connect(socket_, address...); });
    if (!now && errno != EINPROGRESS) {
        close();
        return false;
    }
    state_ = State::connecting;
    listen_for(EPOLLOUT);
    return true;
}

Connection::Step Connection::send(std::string_view request) {
    unsent_ = request;
    answer_.begin();
    if (state_ == State::connecting)
        return Step::waiting;
    state_ = State::sending;
    return go_on_sending();
}

Connection::Step Connection::drive() {
    switch (state_) {
    case State::connecting:
        return connected();
    case State::sending:
        return go_on_sending();
    case State::reading:
        return read();
    case State::idle:
        break;
    }
    close();
    return Step::waiting;
}

Connection::Step Connection::connected() {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0)
        return Step::failed;
    state_ = State::sending;
    return go_on_sending();
}

Connection::Step Connection::go_on_sending() {
    while (!unsent_.empty()) {
        const auto sent = ::send(socket_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            listen_for(EPOLLOUT);
            return Step::waiting;
        }
        if (sent < 0)
            return Step::failed;
        unsent_.remove_prefix(static_cast<std::size_t>(sent));
    }
    state_ = State::reading;
    listen_for(EPOLLIN);
    return Step::waiting;
}

Connection::Step Connection::read() {
    static std::array<char, 256 * 1024> buffer;
    const auto size = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EAGAIN)
        return Step::waiting;
    if (size <= 0 || !answer_.take({buffer.data(), static_cast<std::size_t>(size)}))
        return Step::failed;
    if (!answer_.complete())
        return Step::waiting;
    state_ = State::idle;
    return Step::answered;
}

void Connection::close() noexcept {
    if (is_open())
        ::close(std::exchange(socket_, -1));
    state_ = State::idle;
    events_ = 0;
}

void Connection::listen_for(std::uint32_t events) {
    if (events_ == events)
        return;
    epoll_event event{.events = events, .data = {.u32 = number_}};
    ::epoll_ctl(epoll_, events_ == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket_, &event);
    events_ = events;
}

} // namespace stint::bench
