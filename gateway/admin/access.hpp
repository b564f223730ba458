// Access checks of the admin listener: the Host check against DNS rebinding, and the authorisation
// of changes.
#pragma once

#include "admin/message.hpp"
#include "base/reach.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {
class Gateway;
} // namespace stint::runtime

namespace stint::admin {

using stint::Reach;

// Access rules of the admin listener. They do not change after it is opened.
struct Policy {
    Reach reach = Reach::loopback;
    std::string host;                      // host of the configured address, without brackets
    std::string token;                     // bearer token for changes; empty = none is needed
    std::string read_token{};              // bearer token for reading; empty = none is needed
    std::vector<std::string> open_paths{}; // paths that need no token to be read
    bool read_only = false;
    bool tls = false;
    std::vector<std::string> hosts{}; // Host names accepted besides `host`; lower case
};

// Returns true if a request's Host names this listener (http::is_own_host()). Over TLS any Host
// that is not empty is allowed, because clients check the name against the certificate.
[[nodiscard]] bool
host_allowed(std::string_view authority, int minor_version, const Policy& policy);

// Returns the refusal (401) of a request that shows neither the token for reading nor that for
// changes; nullopt if it may be answered. A change also needs refuse_change().
[[nodiscard]] std::optional<Response> refuse_read(const Request& request, const Policy& policy);

// Returns the refusal of a change that is not allowed (403 or 401); nullopt if the change is
// allowed.
[[nodiscard]] std::optional<Response> refuse_change(const Request& request, const Policy& policy);

// Returns the refusal (503) of a change that this process would not put in force: it stops, or
// another one serves in its place; nullopt if it serves.
[[nodiscard]] std::optional<Response> refuse_late_change(const runtime::Gateway& gateway);

} // namespace stint::admin
