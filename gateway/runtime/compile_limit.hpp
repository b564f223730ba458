// Compiles a limit of the configuration for its registry and its routes. Internal to compile.cpp
// and config_store.cpp.
#pragma once

#include "runtime/compile.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

[[nodiscard]] routing::KeyTemplate key_of(
    const std::vector<config::KeySource>& key,
    const config::AddressPrefixes& prefixes,
    routing::MissingPart missing_part = routing::MissingPart::loses_key);

// Returns the identity that the limit has in its registry. store: the name of its store; empty if
// this gateway counts it alone.
[[nodiscard]] limits::LimitIdentity identity_of(const config::Limit& limit, std::string_view store);
// The same for a limit of this configuration.
[[nodiscard]] limits::LimitIdentity
identity_of(const config::Limit& limit, const config::Config& config);

// A limit of the configuration for the control thread and for the workers.
struct CompiledLimit {
    ConfiguredLimit configured;
    routing::LimitTermsPtr terms;
};

// Compiles a limit with the operators' changes applied. as_read: the limit as the file has it. A
// limit that exists in `registry` keeps its counts. longest_lease: longest_lease_of().
[[nodiscard]] CompiledLimit compile_limit(
    const config::Limit& as_read,
    const LimitChanges& changes,
    limits::Registry& registry,
    observe::MetricSlots& slots,
    const SharedStores& stores,
    Duration longest_lease);

// Returns how long a lease of a lock can last.
[[nodiscard]] Duration longest_lease_of(const config::Config& config) noexcept;

// Compiles the use of a limit by one route. index: the limit's index in Compiled::limits.
[[nodiscard]] routing::RouteLimit route_limit_of(
    const config::Limit& limit,
    std::size_t index,
    const std::string& route,
    observe::MetricSlots& slots);

} // namespace stint::runtime
