// Facts about a server, as it tells them when a connection begins. No I/O.
#pragma once

#include "redis/resp/value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stint::redis {

// Facts that matter to whom keeps counts on the server. A fact that the server does not tell, for
// example because CONFIG is forbidden, is absent.
struct ServerFacts {
    std::string software = {}; // "redis", "valkey"
    std::string version = {};  // "7.0.15"
    std::string role = {};     // "master", "slave", "sentinel"
    // master_replid: changes with every promotion, also back to the same server.
    std::string replication_id = {};
    std::optional<std::string> eviction_policy = {}; // maxmemory-policy: "noeviction"
    std::optional<bool> append_only = {};
    std::optional<std::string> append_fsync = {}; // "everysec"
    std::optional<std::uint64_t> min_replicas_to_write = {};
    std::optional<std::uint64_t> min_replicas_max_lag = {}; // seconds
    std::optional<std::uint64_t> connected_replicas = {};
    std::optional<bool> cluster = {};

    bool operator==(const ServerFacts&) const = default;
};

// The settings that read_config() reads.
inline constexpr std::string_view config_facts[] = {
    "maxmemory-policy", "appendonly", "appendfsync", "min-replicas-to-write",
    "min-replicas-max-lag"};

// Adds the facts in a reply to INFO; an error has none.
void read_info(ServerFacts& facts, const Value& info);

// Adds the facts in a reply to CONFIG GET; an error has none.
void read_config(ServerFacts& facts, const Value& config);

} // namespace stint::redis
