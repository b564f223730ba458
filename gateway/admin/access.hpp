// Access checks: the Host check against DNS rebinding, and the conditions of a change.
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

// Returns http::is_own_host(). Over TLS always true, because clients check the name against the
// certificate.
[[nodiscard]] bool
host_allowed(std::string_view authority, int minor_version, const Policy& policy);

// Returns the response to a change that is not allowed (403, 401), or nothing.
[[nodiscard]] std::optional<Response> refuse_change(const Request& request, const Policy& policy);

} // namespace stint::admin
