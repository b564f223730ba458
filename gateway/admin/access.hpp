// Who may ask for what: the Host check against DNS rebinding, and what a change needs.
#pragma once

#include "admin/message.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stint::admin {

// From where the listener can be reached.
enum class Reach : std::uint8_t { unix_socket, loopback, network };

// Fixed when the listener opens.
struct Policy {
    Reach reach = Reach::loopback;
    std::string host;  // the configured address's, without brackets
    std::string token; // empty = changes need none
    bool read_only = false;
    bool tls = false;
};

// A page whose name was made to resolve to this machine sends that name as Host, never an address:
// allowed are "localhost", loopback addresses, the configured address, and any address when the
// listener is open to the network (where translation may show it under another one). An authority
// may be empty in HTTP/1.0 only; browsers do not speak that. No browser reaches a Unix socket, and
// over TLS the certificate is what a name has to stand up to.
[[nodiscard]] bool
host_allowed(std::string_view authority, int minor_version, const Policy& policy);

// The answer to a change that may not be made (403, 401), or nothing.
[[nodiscard]] std::optional<Response> refuse_change(const Request& request, const Policy& policy);

} // namespace stint::admin
