#include "net/address.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>
#include <sys/un.h>

namespace stint::net {

Result<Endpoint> ip_endpoint(const std::string& address, std::uint16_t port) {
    ErrorCode error;
    const auto ip = asio::ip::make_address(address, error);
    if (error)
        return {boost::system::in_place_error, error};
    return Endpoint{asio::ip::tcp::endpoint{ip, port}};
}

Result<Endpoint> unix_endpoint(const std::string& path) {
    if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path))
        return {
            boost::system::in_place_error,
            boost::system::errc::make_error_code(boost::system::errc::filename_too_long)};
    return Endpoint{asio::local::stream_protocol::endpoint{path}};
}

std::string to_text(const Endpoint& endpoint) {
    if (is_unix(endpoint)) {
        const auto* local = reinterpret_cast<const sockaddr_un*>(endpoint.data());
        return std::string{"unix:"} + local->sun_path;
    }
    char text[INET6_ADDRSTRLEN];
    if (endpoint.data()->sa_family == AF_INET) {
        const auto* ip = reinterpret_cast<const sockaddr_in*>(endpoint.data());
        ::inet_ntop(AF_INET, &ip->sin_addr, text, sizeof text);
        return std::string{text} + ":" + std::to_string(ntohs(ip->sin_port));
    }
    const auto* ip = reinterpret_cast<const sockaddr_in6*>(endpoint.data());
    ::inet_ntop(AF_INET6, &ip->sin6_addr, text, sizeof text);
    return std::string{"["} + text + "]:" + std::to_string(ntohs(ip->sin6_port));
}

bool is_unix(const Endpoint& endpoint) noexcept {
    return endpoint.data()->sa_family == AF_UNIX;
}

namespace {

// endpoint: of an IP address.
std::uint16_t port_of(const Endpoint& endpoint) noexcept {
    return endpoint.data()->sa_family == AF_INET
               ? reinterpret_cast<const sockaddr_in*>(endpoint.data())->sin_port
               : reinterpret_cast<const sockaddr_in6*>(endpoint.data())->sin6_port;
}

bool is_any_host(const Endpoint& endpoint) noexcept {
    return endpoint.data()->sa_family == AF_INET
               ? reinterpret_cast<const sockaddr_in*>(endpoint.data())->sin_addr.s_addr ==
                     htonl(INADDR_ANY)
               : IN6_IS_ADDR_UNSPECIFIED(
                     &reinterpret_cast<const sockaddr_in6*>(endpoint.data())->sin6_addr);
}

} // namespace

bool is_loopback(const Endpoint& endpoint) noexcept {
    if (is_unix(endpoint))
        return true;
    if (endpoint.data()->sa_family == AF_INET) {
        const auto* ip = reinterpret_cast<const sockaddr_in*>(endpoint.data());
        return (ntohl(ip->sin_addr.s_addr) >> 24) == 127;
    }
    const auto* ip = reinterpret_cast<const sockaddr_in6*>(endpoint.data());
    return IN6_IS_ADDR_LOOPBACK(&ip->sin6_addr);
}

bool exclude_each_other(const Endpoint& one, const Endpoint& other) noexcept {
    if (one.data()->sa_family != other.data()->sa_family || is_unix(one) ||
        port_of(one) != port_of(other) || port_of(one) == 0)
        return false;
    return one == other || is_any_host(one) || is_any_host(other);
}

PeerAddress::PeerAddress(const Endpoint& peer) noexcept {
    const int family = peer.data()->sa_family;
    if (family == AF_INET) {
        const auto* ip = reinterpret_cast<const sockaddr_in*>(peer.data());
        size_ = 4;
        std::memcpy(bytes_.data(), &ip->sin_addr, size_);
    } else if (family == AF_INET6) {
        const auto* ip = reinterpret_cast<const sockaddr_in6*>(peer.data());
        const bool mapped = IN6_IS_ADDR_V4MAPPED(&ip->sin6_addr);
        size_ = mapped ? 4 : 16;
        std::memcpy(bytes_.data(), ip->sin6_addr.s6_addr + (mapped ? 12 : 0), size_);
    }
}

std::string PeerAddress::text() const {
    char text[INET6_ADDRSTRLEN] = {};
    if (size_ > 0)
        ::inet_ntop(size_ == 4 ? AF_INET : AF_INET6, bytes_.data(), text, sizeof text);
    return text;
}

} // namespace stint::net
