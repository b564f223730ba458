#include "wire.hpp"

#include "net/address.hpp"
#include "tls/client.hpp"
#include "tls/server.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace stint::test {
namespace {

using namespace std::chrono_literals;

[[noreturn]] void give_up(const std::string& what, const std::source_location& where) {
    throw std::runtime_error{
        std::string{where.file_name()} + ":" + std::to_string(where.line()) + ": " + what};
}

// OpenSSL's own socket calls know no MSG_DONTWAIT.
void never_block(int socket) {
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
}

// See tests/support/small_buffers. Of a socket that is not connected yet, or that listens.
void make_small(int socket) {
    constexpr int size = 4096;
    if (std::getenv("STINT_SMALL_BUFFERS") != nullptr)
        ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

// Affects what is connected or accepted from now on.
void make_window_small(int socket) {
    const int segment = 88; // the least that Linux takes
    ::setsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
    const int buffer = 2048;
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
}

bool readable(int socket) {
    pollfd descriptor{socket, POLLIN, 0};
    return ::poll(&descriptor, 1, 0) > 0;
}

// A signal (the fuzzer's timer sends some) does not undo what was begun.
int connect_whole(int socket, const net::Endpoint& address) {
    if (::connect(socket, address.data(), static_cast<socklen_t>(address.size())) == 0)
        return 0;
    if (errno != EINTR)
        return errno;
    pollfd descriptor{socket, POLLOUT, 0};
    while (::poll(&descriptor, 1, -1) < 0 && errno == EINTR) {
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

// Shrinks the send buffers of this process's sockets that are connected to this address.
void make_senders_small(const net::Endpoint& address) {
    constexpr int last_descriptor = 1024;
    for (int each = 0; each < last_descriptor; ++each) {
        net::Endpoint peer;
        auto size = static_cast<socklen_t>(peer.capacity());
        if (::getpeername(each, peer.data(), &size) != 0)
            continue;
        peer.resize(size);
        const int buffer = 20 * 1024; // more than a record of TLS
        if (peer == address)
            ::setsockopt(each, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    }
}

} // namespace

void run_until(
    net::asio::io_context& loop, const std::function<bool()>& done, std::source_location where) {
    const auto give_up_at = std::chrono::steady_clock::now() + 20s;
    while (!done()) {
        loop.restart();
        // Both ends are in this process: a turn of the loop is followed by a look at the other end.
        loop.run_one_for(1ms);
        loop.poll();
        if (std::chrono::steady_clock::now() > give_up_at)
            give_up("waited in vain", where);
    }
}

Wire::Wire(net::asio::io_context& loop, Descriptor socket)
    : loop_{&loop}, socket_{std::move(socket)} {}

Wire Wire::connect(net::asio::io_context& loop, const net::Endpoint& address, bool narrow) {
    Descriptor socket{::socket(address.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    make_small(socket.get());
    if (narrow)
        make_window_small(socket.get());
    if (const int error = connect_whole(socket.get(), address); error != 0)
        throw std::system_error{error, std::system_category(), "a test's client could not connect"};
    const int on = 1; // what a test sends in pieces goes out in pieces, at once
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return {loop, std::move(socket)};
}

void Wire::send(std::string_view bytes, std::source_location where) {
    const auto push = [&] {
        const std::ptrdiff_t sent = put(bytes);
        if (sent < 0 && errno != EAGAIN)
            give_up("the peer has closed while it was sent to", where);
        bytes.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
        return bytes.empty();
    };
    run_until(*loop_, push, where);
}

std::size_t Wire::send_some(std::string_view bytes) noexcept {
    std::size_t all = 0;
    for (std::ptrdiff_t sent = 1; sent > 0 && !bytes.empty();) {
        sent = put(bytes);
        all += sent > 0 ? static_cast<std::size_t>(sent) : 0;
        bytes.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
    return all;
}

std::ptrdiff_t Wire::put(std::string_view bytes) noexcept {
    if (tls_)
        return tls_->write(bytes);
    return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Wire::begin_tls_as_client(std::source_location where) {
    tls_ = std::make_unique<TlsEnd>(tls_client()->connect("127.0.0.1"), socket_.get());
    if (over_http2())
        tls_->offer_http2();
    never_block(socket_.get());
    run_until(
        *loop_, [this] { return tls_->shake_hands(); }, where);
}

void Wire::begin_tls_as_server() {
    tls_ = std::make_unique<TlsEnd>(tls_server()->accept(), socket_.get());
    never_block(socket_.get());
}

void Wire::close() noexcept {
    if (tls_ && socket_.get() >= 0)
        tls_->send_close_notify();
    socket_ = {};
}

void Wire::take() {
    char bytes[16 * 1024];
    while (!ended_) {
        const std::ptrdiff_t got = tls_ ? tls_->read(bytes, sizeof bytes)
                                        : ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (got > 0)
            buffer_.append(bytes, static_cast<std::size_t>(got));
        else if (got < 0 && errno == EAGAIN)
            return;
        else {
            ended_ = true;
            reset_ = got < 0 && !tls_ && errno == ECONNRESET;
        }
    }
}

std::string_view Wire::received() {
    take();
    return buffer_;
}

bool Wire::closed() {
    take();
    return ended_;
}

void Wire::wait_closed(std::source_location where) {
    run_until(
        *loop_, [this] { return closed(); }, where);
}

std::string Wire::read_until(std::string_view end, std::source_location where) {
    std::size_t found = std::string::npos;
    const auto arrived = [&] {
        take();
        found = buffer_.find(end);
        if (found == std::string::npos && ended_)
            give_up("closed after \"" + buffer_ + "\"", where);
        return found != std::string::npos;
    };
    run_until(*loop_, arrived, where);
    return read(found + end.size(), where);
}

std::string Wire::read(std::size_t size, std::source_location where) {
    const auto arrived = [&] {
        take();
        if (buffer_.size() < size && ended_)
            give_up("closed after \"" + buffer_ + "\"", where);
        return buffer_.size() >= size;
    };
    run_until(*loop_, arrived, where);
    std::string bytes = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return bytes;
}

std::string Wire::read_to_end(std::source_location where) {
    wait_closed(where);
    return std::exchange(buffer_, {});
}

void Wire::shutdown_send() noexcept {
    if (tls_)
        tls_->send_close_notify();
    ::shutdown(socket_.get(), SHUT_WR);
}

void Wire::shutdown_receive() noexcept {
    ::shutdown(socket_.get(), SHUT_RD);
}

void Wire::narrow_peer() noexcept {
    net::Endpoint own;
    auto size = static_cast<socklen_t>(own.capacity());
    if (::getsockname(socket_.get(), own.data(), &size) != 0)
        return;
    own.resize(size);
    make_senders_small(own);
}

void Wire::reset() noexcept {
    const linger at_once{1, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket_ = {};
}

ListeningWire::ListeningWire(net::asio::io_context& loop)
    : ListeningWire{loop, *net::ip_endpoint("127.0.0.1", 0)} {}

ListeningWire::ListeningWire(net::asio::io_context& loop, const net::Endpoint& address)
    : loop_{loop} {
    Result<net::ListeningSockets> opened = net::open_listeners(address, 1);
    address_ = opened.value().address;
    socket_ = std::move(opened->sockets.front());
    make_small(socket_.get());
}

std::string ListeningWire::text() const {
    return net::to_text(address_);
}

Wire ListeningWire::accept(std::source_location where) {
    run_until(
        loop_, [this] { return called(); }, where);
    Wire wire{loop_, Descriptor{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)}};
    if (over_tls())
        wire.begin_tls_as_server();
    return wire;
}

void ListeningWire::narrow() noexcept {
    make_window_small(socket_.get());
}

// The gateway is in this process, and its sockets among its descriptors.
void ListeningWire::narrow_callers() noexcept {
    make_senders_small(address_);
}

bool ListeningWire::called() const {
    return readable(socket_.get());
}

RefusingAddress::RefusingAddress()
    : address_{*net::ip_endpoint("127.0.0.1", 0)}, socket_{::socket(
                                                       AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    auto size = static_cast<socklen_t>(address_.size());
    if (::bind(socket_.get(), address_.data(), size) != 0 ||
        ::getsockname(socket_.get(), address_.data(), &size) != 0)
        throw std::system_error{errno, std::generic_category(), "an address that refuses"};
}

} // namespace stint::test
