// The Host check against DNS rebinding, for a listener that serves people and programs of the same
// site.
#pragma once

#include "base/reach.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stint::http {

struct OwnHost {
    Reach reach = Reach::loopback;
    std::string_view host;               // the configured address, without brackets
    std::span<const std::string> others; // further names of the listener; normalised
};

// Returns true if Host is allowed. A web page whose name was made to resolve to this machine sends
// that name as Host, never an address. Allowed are therefore "localhost", loopback addresses, the
// configured address, the names in `others`, and any address if the listener is open to the network
// (where NAT may change its address). An empty authority is allowed in HTTP/1.0 only, which
// browsers do not speak. On a Unix socket, which no browser reaches, everything is allowed.
[[nodiscard]] bool is_own_host(std::string_view authority, int minor_version, const OwnHost& own);

} // namespace stint::http
