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
    bool unix_peers = false; // the peers of Unix sockets too
    std::string header;      // names the client; in lower case

    [[nodiscard]] bool empty() const noexcept { return networks.empty() && !unix_peers; }
    // peer: none for a Unix socket's.
    [[nodiscard]] bool contains(const IpAddress& peer) const noexcept;
};

// Returns the client of a request that came from the trusted `peer`. Each proxy appends the address
// of its own peer, so the list is read from the right, past the trusted proxies, to the first
// address that is not one of theirs. A value that is no address ("unknown", "_hidden", garbage)
// ends the walk, because no trusted proxy has vouched for the values left of it. Then the client is
// the last trusted one. Addresses may have brackets and ports. A header with one value is a list of
// one; in `forwarded` (RFC 7239) the "for" counts. Allocates nothing.
[[nodiscard]] IpAddress client_behind(
    const IpAddress& peer, std::span<const Field> fields, const TrustedProxies& trusted) noexcept;

} // namespace stint::routing
