// The PROXY header before the first byte of an upstream connection, where the upstream wants one.
#pragma once

#include "proxy/request.hpp"
#include "routing/snapshot.hpp"

#include <string>

namespace stint::proxy {

// Returns the PROXY header of a connection that is the client's alone. The client is the one that
// limits count; its port is known only if it is the peer. version: v1 or v2.
[[nodiscard]] std::string
proxy_protocol_header(const Request& request, routing::UpstreamSpec::ProxyProtocol version);

} // namespace stint::proxy
