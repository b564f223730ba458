// Where a server is, by name or address and port.
#pragma once

#include <cstdint>
#include <string>

namespace stint::redis {

// A host and its port: an address without brackets, or a name.
struct HostPort {
    std::string host = {};
    std::uint16_t port = 0;

    // Returns "10.0.0.1:6379", "[::1]:6379".
    [[nodiscard]] std::string text() const;
    friend bool operator==(const HostPort&, const HostPort&) = default;
};

} // namespace stint::redis
