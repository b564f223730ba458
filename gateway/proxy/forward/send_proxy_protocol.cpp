// The PROXY header before the first byte of an upstream connection, where the upstream wants one.
#include "http/proxy_header.hpp"
#include "net/address.hpp"
#include "proxy/exchange.hpp"

#include <charconv>

namespace stint::proxy {
namespace {

using Protocol = routing::UpstreamSpec::ProxyProtocol;

// Returns 0 for a Unix socket, which has no port.
std::uint16_t port_of(const net::Endpoint& endpoint) {
    if (net::is_unix(endpoint))
        return 0;
    const std::string text = net::to_text(endpoint);
    const std::size_t colon = text.rfind(':') + 1;
    std::uint16_t port = 0;
    std::from_chars(text.data() + colon, text.data() + text.size(), port);
    return port;
}

} // namespace

// Returns the PROXY header. The connection is new, this client's alone, and nothing has been sent
// on it. The client is the one that limits count; its port is known only if it is the peer.
std::string Exchange::proxy_protocol_header() {
    http::ProxiedConnection connection;
    connection.source = client_->address();
    ErrorCode error;
    const net::Endpoint peer = stream_.connection().socket->remote_endpoint(error);
    if (!error && IpAddress::from_bytes(net::PeerAddress{peer}.bytes()) == connection.source)
        connection.source_port = port_of(peer);
    const net::Endpoint local = stream_.connection().socket->local_endpoint(error);
    if (!error) {
        connection.destination = IpAddress::from_bytes(net::PeerAddress{local}.bytes());
        connection.destination_port = port_of(local);
    }
    std::string header;
    if (snapshot().upstreams[route().upstream].proxy_protocol == Protocol::v1)
        http::append_proxy_header_v1(header, connection);
    else
        http::append_proxy_header_v2(header, connection);
    return header;
}

} // namespace stint::proxy
