#include "end.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace stint::uploads {
namespace {

constexpr int receive_buffer = 4096;

void must(bool good, const char* what) {
    if (!good)
        throw std::runtime_error{what};
}

sockaddr_in local(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

void set(int socket, int level, int name, int value) {
    ::setsockopt(socket, level, name, &value, sizeof value);
}

ssl_ctx_st* context(const SSL_METHOD* method) {
    SSL_CTX* const made = SSL_CTX_new(method);
    must(made != nullptr, "no TLS");
    SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return made;
}

} // namespace

TlsSetting::TlsSetting(
    const std::string& authority, const std::string& certificate, const std::string& key)
    : server_{context(TLS_server_method())}, client_{context(TLS_client_method())} {
    must(
        SSL_CTX_use_certificate_chain_file(server_, certificate.c_str()) == 1 &&
            SSL_CTX_use_PrivateKey_file(server_, key.c_str(), SSL_FILETYPE_PEM) == 1 &&
            SSL_CTX_load_verify_file(client_, authority.c_str()) == 1,
        "a PEM file cannot be used");
    // So that nothing but answers comes to Stint: late_writes.cpp goes by that.
    SSL_CTX_set_num_tickets(server_, 0);
    SSL_CTX_set_verify(client_, SSL_VERIFY_PEER, nullptr);
}

TlsSetting::~TlsSetting() {
    SSL_CTX_free(server_);
    SSL_CTX_free(client_);
}

ssl_st* TlsSetting::make_server() const {
    SSL* const made = SSL_new(server_);
    SSL_set_accept_state(made);
    return made;
}

ssl_st* TlsSetting::make_client() const {
    SSL* const made = SSL_new(client_);
    SSL_set_connect_state(made);
    return made;
}

End::End(int socket, ssl_st* ssl) : socket_{socket}, ssl_{ssl} {
    if (ssl_ != nullptr)
        SSL_set_fd(ssl_, socket_);
    set(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
}

End::End(End&& other) noexcept
    : socket_{std::exchange(other.socket_, -1)}, ssl_{std::exchange(other.ssl_, nullptr)} {}

End& End::operator=(End&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(ssl_, other.ssl_);
    return *this;
}

End::~End() {
    close();
}

End End::connect(std::uint16_t port, const TlsSetting* tls) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = local(port);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        ::close(socket);
        return {};
    }
    int on = 1;
    ::ioctl(socket, FIONBIO, &on);
    return {socket, tls != nullptr ? tls->make_client() : nullptr};
}

bool End::shake_hands(int milliseconds) {
    if (ssl_ == nullptr)
        return true;
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds{milliseconds};
    for (;;) {
        const int result = SSL_do_handshake(ssl_);
        if (result == 1)
            return true;
        const bool writes = SSL_get_error(ssl_, result) == SSL_ERROR_WANT_WRITE;
        if (failed(result) != not_now || Clock::now() > end)
            return false;
        (void)wait(10, writes);
    }
}

std::ptrdiff_t End::failed(int result) {
    const int what = SSL_get_error(ssl_, result);
    ERR_clear_error();
    if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE)
        return not_now;
    return what == SSL_ERROR_ZERO_RETURN ? 0 : broken;
}

std::ptrdiff_t End::read(char* into, std::size_t size) {
    if (ssl_ != nullptr) {
        std::size_t got = 0;
        const int result = SSL_read_ex(ssl_, into, size, &got);
        return result == 1 ? static_cast<std::ptrdiff_t>(got) : failed(result);
    }
    const ssize_t got = ::recv(socket_, into, size, MSG_DONTWAIT);
    return got >= 0 ? got : errno == EAGAIN || errno == EINTR ? not_now : broken;
}

std::ptrdiff_t End::write(std::string_view bytes) {
    if (ssl_ != nullptr) {
        std::size_t sent = 0;
        const int result = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &sent);
        return result == 1 ? static_cast<std::ptrdiff_t>(sent) : failed(result);
    }
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent >= 0 ? sent : errno == EAGAIN || errno == EINTR ? not_now : broken;
}

bool End::wait(int milliseconds, bool writable) const {
    if (ssl_ != nullptr && SSL_pending(ssl_) > 0)
        return true;
    pollfd socket{socket_, static_cast<short>(POLLIN | (writable ? POLLOUT : 0)), 0};
    return ::poll(&socket, 1, milliseconds) > 0;
}

std::size_t End::unread() const {
    int bytes = 0;
    ::ioctl(socket_, FIONREAD, &bytes);
    return static_cast<std::size_t>(bytes + (ssl_ != nullptr ? SSL_pending(ssl_) : 0));
}

bool End::peer_gone() const {
    pollfd socket{socket_, POLLRDHUP, 0};
    return ::poll(&socket, 1, 0) > 0;
}

void End::say_end() {
    if (ssl_ != nullptr && SSL_is_init_finished(ssl_) == 1)
        SSL_shutdown(ssl_);
    ERR_clear_error();
    ::shutdown(socket_, SHUT_WR);
}

void End::close() {
    if (ssl_ != nullptr) {
        if (socket_ >= 0 && SSL_is_init_finished(ssl_) == 1)
            SSL_shutdown(ssl_);
        ERR_clear_error();
        SSL_free(std::exchange(ssl_, nullptr));
    }
    if (socket_ >= 0)
        ::close(std::exchange(socket_, -1));
}

void End::reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    SSL_free(std::exchange(ssl_, nullptr)); // without its good-bye
    ::close(std::exchange(socket_, -1));
}

void Listener::open() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
    set(socket, SOL_SOCKET, SO_RCVBUF, receive_buffer); // connections inherit it
    const sockaddr_in address = local(port_);
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket, 1024) != 0)
        throw std::system_error{errno, std::generic_category(), "an upstream cannot listen"};
    socket_ = socket;
}

void Listener::close() {
    if (socket_ >= 0)
        ::close(std::exchange(socket_, -1));
}

End Listener::accept(int milliseconds) const {
    pollfd listening{socket_, POLLIN, 0};
    if (::poll(&listening, 1, milliseconds) <= 0)
        return {};
    const int socket = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0)
        return {};
    return {socket, tls_ != nullptr ? tls_->make_server() : nullptr};
}

} // namespace stint::uploads
