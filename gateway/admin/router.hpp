// Routes a request by method and path to an Endpoint.
#pragma once

#include "admin/message.hpp"
#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::admin {

enum class Endpoint : std::uint8_t {
    metrics,
    healthz,
    readyz,
    config,
    cooldowns,
    limits,
    limit,           // one, by name
    top,             // the heaviest keys of one
    override_of_key, // other numbers for one key of one
    locks,
    lock,    // one, by name
    lease,   // a lock's, to end it
    overlay, // changes made at run time
    routes,
    upstreams,
    drain,  // an endpoint of an upstream
    enable, // the same
    version,
    explain, // a read, by POST because it takes a body
    reload,
};

struct Target {
    Endpoint endpoint{};
    std::string name{}; // the limit's, the lock's or the upstream's; decoded
    std::string key{};  // Endpoint::override_of_key's; the endpoint's text; a lease's id; decoded
};

// Returns the target, or the response to a request that has none: 404, 405, or 400 for a malformed
// escape. Reads take GET and HEAD; changes (and explain) POST, overrides PUT and DELETE, leases
// DELETE.
[[nodiscard]] Result<Target, Response> find_target(std::string_view method, std::string_view path);

} // namespace stint::admin
