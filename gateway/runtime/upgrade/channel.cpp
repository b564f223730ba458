#include "runtime/upgrade/channel.hpp"

#include "net/clock.hpp"
#include "net/types.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stint::runtime {
namespace {

// A longer body is in a file in memory, which is the message's last descriptor.
constexpr std::size_t most_in_place = 32 * 1024;
constexpr std::uint8_t in_file = 0x80; // added to the kind

constexpr std::size_t room_for_descriptors =
    CMSG_SPACE((Channel::most_descriptors + 1) * sizeof(int));

ErrorCode last_error() {
    return {errno, boost::system::system_category()};
}

Result<Descriptor> file_with(std::string_view body) {
    Descriptor file{::memfd_create("stint", MFD_CLOEXEC)};
    while (file.get() >= 0 && !body.empty()) {
        const ssize_t written = ::write(file.get(), body.data(), body.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return {boost::system::in_place_error, last_error()};
        body.remove_prefix(static_cast<std::size_t>(written));
    }
    if (file.get() < 0)
        return {boost::system::in_place_error, last_error()};
    return file;
}

Result<std::string> content_of(const Descriptor& file) {
    struct stat about {};
    if (::fstat(file.get(), &about) != 0)
        return {boost::system::in_place_error, last_error()};
    std::string content(static_cast<std::size_t>(about.st_size), '\0');
    std::size_t done = 0;
    while (done < content.size()) {
        const ssize_t got = ::pread(
            file.get(), content.data() + done, content.size() - done, static_cast<off_t>(done));
        if (got <= 0)
            return {boost::system::in_place_error, last_error()};
        done += static_cast<std::size_t>(got);
    }
    return content;
}

std::vector<Descriptor> descriptors_in(msghdr& header) {
    std::vector<Descriptor> received;
    for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr;
         each = CMSG_NXTHDR(&header, each)) {
        if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS)
            continue;
        const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(each) + i * sizeof descriptor, sizeof descriptor);
            received.emplace_back(descriptor);
        }
    }
    return received;
}

} // namespace

Result<std::pair<Channel, Channel>> Channel::pair() {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return {boost::system::in_place_error, last_error()};
    return std::pair{Channel{Descriptor{ends[0]}}, Channel{Descriptor{ends[1]}}};
}

void Channel::shut() const noexcept {
    ::shutdown(socket_.get(), SHUT_RDWR);
}

short Channel::events() const noexcept {
    pollfd poll{.fd = socket_.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
    return ::poll(&poll, 1, 0) > 0 ? poll.revents : short{0};
}

bool Channel::peer_has_gone() const noexcept {
    return (events() & (POLLRDHUP | POLLHUP)) != 0;
}

bool Channel::has_message() const noexcept {
    return (events() & (POLLIN | POLLRDHUP | POLLHUP)) == POLLIN;
}

ErrorCode Channel::send_now(const Message& message) {
    auto kind = static_cast<std::uint8_t>(message.kind);
    Descriptor file;
    if (message.body.size() > most_in_place) {
        auto made = file_with(message.body);
        if (!made)
            return made.error();
        file = std::move(*made);
        kind |= in_file;
    }
    const std::string_view body = file.get() < 0 ? std::string_view{message.body} : "";
    std::array<iovec, 2> pieces{
        iovec{&kind, sizeof kind}, iovec{const_cast<char*>(body.data()), body.size()}};
    std::vector<int> descriptors;
    for (const Descriptor& each : message.descriptors)
        descriptors.push_back(each.get());
    if (file.get() >= 0)
        descriptors.push_back(file.get());
    alignas(cmsghdr) std::array<char, room_for_descriptors> control{};
    msghdr header{};
    header.msg_iov = pieces.data();
    header.msg_iovlen = pieces.size();
    if (!descriptors.empty()) {
        const std::size_t bytes = descriptors.size() * sizeof(int);
        header.msg_control = control.data();
        header.msg_controllen = CMSG_SPACE(bytes);
        cmsghdr* const first = CMSG_FIRSTHDR(&header);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(bytes);
        std::memcpy(CMSG_DATA(first), descriptors.data(), bytes);
    }
    ssize_t sent = -1;
    do
        sent = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return {};
    return errno == EAGAIN ? ErrorCode{boost::asio::error::would_block} : last_error();
}

Result<Message> Channel::receive_now() {
    std::uint8_t kind = 0;
    std::string body(most_in_place, '\0');
    std::array<iovec, 2> pieces{iovec{&kind, sizeof kind}, iovec{body.data(), body.size()}};
    alignas(cmsghdr) std::array<char, room_for_descriptors> control{};
    msghdr header{};
    header.msg_iov = pieces.data();
    header.msg_iovlen = pieces.size();
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    ssize_t got = -1;
    do
        got = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return {
            boost::system::in_place_error,
            errno == EAGAIN ? ErrorCode{boost::asio::error::would_block} : last_error()};
    if (got == 0)
        return {boost::system::in_place_error, ErrorCode{boost::asio::error::eof}};
    Message message{static_cast<MessageKind>(kind & ~in_file), {}, descriptors_in(header)};
    if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) // no descriptors are left
        return {boost::system::in_place_error, ErrorCode{boost::asio::error::no_descriptors}};
    body.resize(static_cast<std::size_t>(got) - sizeof kind);
    message.body = std::move(body);
    if ((kind & in_file) == 0)
        return message;
    if (message.descriptors.empty())
        return {boost::system::in_place_error, ErrorCode{boost::asio::error::invalid_argument}};
    auto content = content_of(message.descriptors.back());
    if (!content)
        return {boost::system::in_place_error, content.error()};
    message.body = std::move(*content);
    message.descriptors.pop_back();
    return message;
}

ErrorCode Channel::wait(short events, SteadyTime until) const {
    const Duration left = until - net::read_steady_clock();
    if (left <= Duration::zero())
        return boost::asio::error::timed_out;
    pollfd waiting{socket_.get(), events, 0};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<long>(ms, 60'000)));
    return ready < 0 && errno != EINTR ? last_error() : ErrorCode{};
}

ErrorCode Channel::send(const Message& message, Duration most) {
    const SteadyTime until = net::read_steady_clock() + most;
    ErrorCode error = send_now(message);
    while (error == boost::asio::error::would_block) {
        if (const ErrorCode failed = wait(POLLOUT, until))
            return failed;
        error = send_now(message);
    }
    return error;
}

Result<Message> Channel::receive(Duration most) {
    const SteadyTime until = net::read_steady_clock() + most;
    for (;;) {
        Result<Message> message = receive_now();
        if (message || message.error() != boost::asio::error::would_block)
            return message;
        if (const ErrorCode failed = wait(POLLIN, until))
            return {boost::system::in_place_error, failed};
    }
}

} // namespace stint::runtime
