// Compiles the configuration, as read from the file, to the routes, limits and upstreams that
// workers use.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/registry.hpp"
#include "observe/metrics.hpp"
#include "routing/snapshot.hpp"
#include "runtime/limit_changes.hpp"
#include "runtime/shared_stores.hpp"
#include "runtime/tls_objects.hpp"
#include "upstream/endpoint_group.hpp"
#include "upstream/resolver.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stint::runtime {

// A limit of the configuration with its live state.
struct ConfiguredLimit {
    limits::LimitPtr limit;
    limits::Numbers numbers; // quota and burst of every key without an override
    std::string route;       // the route that declares an inline limit; empty for a named limit
    routing::KeyTemplate key;
    routing::KeyRulesPtr rules; // nullptr if no key is exempt, denied or overridden
    bool waits = false;         // when_exceeded: wait
    bool reserves = false;      // retry_after: reserve
    bool enforce = true;        // false: a dry run

    // Returns the quota and burst of a key. of: the key's text; nullopt for a request without a
    // key.
    [[nodiscard]] limits::Numbers numbers_for(std::optional<std::string_view> of) const noexcept {
        return routing::numbers_for(rules, numbers, of);
    }
};

struct Compiled {
    routing::SnapshotPtr snapshot;
    std::vector<ConfiguredLimit> limits; // in the order of config::Config::limits
    // Index into `limits` by name. The keys are views of texts that the limits own.
    std::unordered_map<std::string_view, std::size_t> limits_by_name;
    std::vector<limits::CooldownSetPtr> cooldowns;
    upstream::Resolver::Names host_names; // host names of endpoints, with resolve intervals

    // Returns the limit's index; nullopt if there is no such limit.
    [[nodiscard]] std::optional<std::size_t> limit_named(std::string_view name) const noexcept;
};

// Compiles the configuration. Limits that exist in `registry` keep their counts. Routes, limits and
// upstreams without a metric slot get one. changes: the operators' changes, which are applied to
// the configuration's limits. tls: the TLS objects of the same configuration; empty for a caller
// that sends no upstream requests. endpoints: the live state of endpoints, which is kept over
// reloads; with nullptr each endpoint starts with new state. stores: of the same configuration;
// without them this gateway counts shared limits alone.
[[nodiscard]] Compiled compile(
    const config::Config& config,
    limits::Registry& registry,
    observe::MetricSlots& slots,
    std::uint64_t generation,
    const LimitChanges& changes = {},
    const TlsObjects& tls = {},
    upstream::EndpointRegistry* endpoints = nullptr,
    const SharedStores& stores = {});

} // namespace stint::runtime
