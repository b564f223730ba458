// The PROXY header before the first byte of an upstream connection, where the upstream wants one.
#pragma once

#include "proxy/request.hpp"
#include "routing/snapshot.hpp"

#include <string>

namespace stint::proxy {

// Returns the PROXY header for an upstream connection that carries this request alone. Its source
// is the client's address as limits use it. The source port is set only if that client is the
// direct peer. version: v1 or v2.
[[nodiscard]] std::string
proxy_protocol_header(const Request& request, routing::UpstreamSpec::ProxyProtocol version);

} // namespace stint::proxy
