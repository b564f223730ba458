// Who may ask for what: the Host check against DNS rebinding, and what a change needs.
#pragma once

#include "admin/message.hpp"
#include "base/reach.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::admin {

using stint::Reach;

// Fixed when the listener opens.
struct Policy {
    Reach reach = Reach::loopback;
    std::string host;  // the configured address's, without brackets
    std::string token; // empty = changes need none
    bool read_only = false;
    bool tls = false;
    std::vector<std::string> hosts{}; // Host names it accepts beside its address; in lower case
};

// As http::is_own_host(); over TLS any host, since the certificate is what a name has to stand up
// to.
[[nodiscard]] bool
host_allowed(std::string_view authority, int minor_version, const Policy& policy);

// The answer to a change that may not be made (403, 401), or nothing.
[[nodiscard]] std::optional<Response> refuse_change(const Request& request, const Policy& policy);

} // namespace stint::admin
