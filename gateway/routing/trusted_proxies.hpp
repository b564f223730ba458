// Trusted proxies, and the client address behind them.
#pragma once

#include "base/ip_address.hpp"
#include "base/message.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stint::routing {

struct TrustedProxies {
    std::vector<Cidr> networks;
    bool unix_peers = false; // peers of Unix sockets are trusted, too
    std::string header;      // the field that names the client; lower case

    [[nodiscard]] bool empty() const noexcept { return networks.empty() && !unix_peers; }
    // True if the peer is trusted. peer: an empty address for the peer of a Unix socket.
    [[nodiscard]] bool contains(const IpAddress& peer) const noexcept;
};

// Returns the client of a request that came from the trusted `peer`. Each proxy appends the address
// of its own peer. So the list is read from the right, past the trusted proxies, to the first
// address that is not a trusted proxy's. A value that is no address ("unknown", "_hidden", garbage)
// ends the walk, because no trusted proxy has vouched for the values left of it; then the client is
// the last trusted address. Addresses may have brackets and ports. A field with one value is a list
// of one. In `forwarded` (RFC 7239) the "for" parameter counts. Allocates nothing.
[[nodiscard]] IpAddress client_behind(
    const IpAddress& peer, std::span<const Field> fields, const TrustedProxies& trusted) noexcept;

} // namespace stint::routing
