// From what was written to what a worker runs on: the only place where the configuration's schema
// meets routes, limits and upstreams.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/registry.hpp"
#include "observe/metrics.hpp"
#include "routing/snapshot.hpp"
#include "runtime/live_overrides.hpp"
#include "runtime/tls_objects.hpp"
#include "upstream/endpoint_group.hpp"
#include "upstream/resolver.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

// A limit of the configuration with its live state.
struct ConfiguredLimit {
    limits::LimitPtr limit;
    limits::Numbers numbers; // of all keys but those that have their own
    std::string route;       // of an inline limit, else empty
    routing::KeyTemplate key;
    routing::KeyRulesPtr rules; // nullptr: none
    bool waits = false;         // when_exceeded: wait
    bool reserves = false;      // retry_after: reserve

    // of: a key's text; nothing for requests that have none.
    [[nodiscard]] limits::Numbers numbers_for(std::optional<std::string_view> of) const noexcept {
        return routing::numbers_for(rules, numbers, of);
    }
};

struct Compiled {
    routing::SnapshotPtr snapshot;
    std::vector<ConfiguredLimit> limits; // as in config::Config::limits
    std::vector<limits::CooldownSetPtr> cooldowns;
    upstream::Resolver::Names host_names; // of endpoints, to be resolved so often
};

// Limits that are alive keep their counts; slots are given to names that have none yet. `tls` is of
// the same configuration; who sends no request needs none. endpoints: whose state goes on; nullptr:
// each begins anew.
[[nodiscard]] Compiled compile(
    const config::Config& config,
    limits::Registry& registry,
    observe::MetricSlots& slots,
    std::uint64_t generation,
    const LiveOverrides& overrides = {},
    const TlsObjects& tls = {},
    upstream::EndpointRegistry* endpoints = nullptr);

} // namespace stint::runtime
