// Compiles the configuration for workers: its schema to routes, limits and upstreams.
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
    limits::Numbers numbers; // for all keys without an override
    std::string route;       // an inline limit's, else empty
    routing::KeyTemplate key;
    routing::KeyRulesPtr rules; // nullptr: none
    bool waits = false;         // when_exceeded: wait
    bool reserves = false;      // retry_after: reserve

    // Returns the numbers for a key. of: its text; nothing for requests without a key.
    [[nodiscard]] limits::Numbers numbers_for(std::optional<std::string_view> of) const noexcept {
        return routing::numbers_for(rules, numbers, of);
    }
};

struct Compiled {
    routing::SnapshotPtr snapshot;
    std::vector<ConfiguredLimit> limits; // as in config::Config::limits
    std::vector<limits::CooldownSetPtr> cooldowns;
    upstream::Resolver::Names host_names; // endpoint host names with their resolve intervals
};

// Compiles the configuration. Existing limits keep their counts; names without a slot get one.
// `tls` is of the same configuration; a caller that sends no request needs none. endpoints: the
// registry of live endpoint state, which is kept; nullptr: each endpoint starts with new state.
[[nodiscard]] Compiled compile(
    const config::Config& config,
    limits::Registry& registry,
    observe::MetricSlots& slots,
    std::uint64_t generation,
    const LiveOverrides& overrides = {},
    const TlsObjects& tls = {},
    upstream::EndpointRegistry* endpoints = nullptr);

} // namespace stint::runtime
