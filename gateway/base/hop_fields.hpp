// Settings of the request fields Forwarded and Via, by which the gateway tells an upstream that it
// is a hop.
#pragma once

#include <optional>
#include <string>

namespace stint {

struct HopFields {
    bool forwarded = false; // requests are sent with Forwarded (RFC 7239)
    // The gateway's name in Via; nothing: default_pseudonym. Empty: the gateway adds no Via.
    std::optional<std::string> via{};
};

inline constexpr const char* default_pseudonym = "stint";

} // namespace stint
