// From method and path to what is asked for.
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
    lock,  // one, by name
    lease, // of a lock, to be ended
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
    std::string name{}; // of the limit, the lock or the upstream, decoded
    std::string key{};  // of Endpoint::override_of_key; the endpoint's text; a lease's id; decoded
};

// The target, or the answer to a request that has none: 404, 405, or 400 for a malformed escape.
// What can be read answers to GET and HEAD, what changes something to POST alone.
[[nodiscard]] Result<Target, Response> find_target(std::string_view method, std::string_view path);

} // namespace stint::admin
