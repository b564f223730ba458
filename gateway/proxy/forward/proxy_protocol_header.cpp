#include "proxy/forward/proxy_protocol_header.hpp"

#include "http/proxy_header.hpp"
#include "net/address.hpp"

#include <charconv>

namespace stint::proxy {
namespace {

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

std::string
proxy_protocol_header(const Request& request, routing::UpstreamSpec::ProxyProtocol version) {
    const net::Socket& socket = *request.stream().connection().socket;
    http::ProxiedConnection connection;
    connection.source = request.record().client().address();
    ErrorCode error;
    const net::Endpoint peer = socket.remote_endpoint(error);
    if (!error && IpAddress::from_bytes(net::PeerAddress{peer}.bytes()) == connection.source)
        connection.source_port = port_of(peer);
    const net::Endpoint local = socket.local_endpoint(error);
    if (!error) {
        connection.destination = IpAddress::from_bytes(net::PeerAddress{local}.bytes());
        connection.destination_port = port_of(local);
    }
    std::string header;
    if (version == routing::UpstreamSpec::ProxyProtocol::v1)
        http::append_proxy_header_v1(header, connection);
    else
        http::append_proxy_header_v2(header, connection);
    return header;
}

} // namespace stint::proxy
