// Maps the method and path of an admin request to an Endpoint.
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
    limit,           // one limit, by name
    top,             // the heaviest keys of one limit
    forecast,        // tells how much another number of one limit would have refused
    override_of_key, // an override for one key of a limit, or for the whole limit
    block,           // denies a key or a client
    unblock,         // ends a block
    enforce,         // switches `enforce` of a limit for a time
    counters,        // clears the counters of a limit
    locks,
    lock,    // one lock, by name
    lease,   // a lease of a lock, to end it
    overlay, // another path of `changes`
    changes, // the changes that operators have made at run time
    routes,
    stores,      // the stores of shared limits
    trust_store, // makes a store give shares at once
    upstreams,
    drain,  // drains an endpoint of an upstream
    enable, // enables an endpoint of an upstream
    version,
    explain, // changes nothing; POST because it takes a body
    reload,
    last_reload, // the cause and the result of the last reload
};

struct Target {
    Endpoint endpoint{};
    std::string name{}; // name of the limit, lock, store or upstream; percent-decoded
    std::string key{}; // key of the override, address of the endpoint, or lease id; percent-decoded
};

// Returns the target of a request, or an error response: 404, 405, or 400 for a malformed
// percent-escape. Allowed methods: GET and HEAD for reads, PUT and DELETE for overrides, POST and
// DELETE for enforce, DELETE for leases and counters, POST for all other changes and for explain.
[[nodiscard]] Result<Target, Response> find_target(std::string_view method, std::string_view path);

} // namespace stint::admin
