#include "redis/server_facts.hpp"

#include "redis/resp/numbers.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::redis {
namespace {

std::optional<std::uint64_t> number_of(std::string_view text) {
    if (const auto number = parse_length(text))
        return *number;
    return std::nullopt;
}

void take_info(ServerFacts& facts, std::string_view name, std::string_view value) {
    if (name == "redis_version" && facts.version.empty())
        facts.version = value;
    else if (name == "valkey_version")
        facts.version = value; // beside a redis_version for clients that compare
    else if (name == "server_name")
        facts.software = value;
    else if (name == "role")
        facts.role = value;
    else if (name == "master_replid")
        facts.replication_id = value;
    else if (name == "connected_slaves")
        facts.connected_replicas = number_of(value);
    else if (name == "maxmemory_policy")
        facts.eviction_policy = value;
    else if (name == "aof_enabled")
        facts.append_only = value == "1";
    else if (name == "cluster_enabled")
        facts.cluster = value == "1";
}

// Returns a setting's text; null if the server does not tell it.
const std::string* setting(const Value& config, std::string_view name) noexcept {
    const Value* value = config.member(name);
    return value != nullptr && value->is_text() ? &value->text : nullptr;
}

} // namespace

void read_info(ServerFacts& facts, const Value& info) {
    if (!info.is_text())
        return;
    facts.software = "redis";
    for (std::string_view rest = info.text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find("\r\n"));
        rest.remove_prefix(std::min(rest.size(), line.size() + 2));
        if (const std::size_t colon = line.find(':'); colon != std::string_view::npos)
            take_info(facts, line.substr(0, colon), line.substr(colon + 1));
    }
}

void read_config(ServerFacts& facts, const Value& config) {
    if (const std::string* policy = setting(config, "maxmemory-policy"))
        facts.eviction_policy = *policy;
    if (const std::string* on = setting(config, "appendonly"))
        facts.append_only = *on == "yes";
    if (const std::string* when = setting(config, "appendfsync"))
        facts.append_fsync = *when;
    if (const std::string* least = setting(config, "min-replicas-to-write"))
        facts.min_replicas_to_write = number_of(*least);
    if (const std::string* lag = setting(config, "min-replicas-max-lag"))
        facts.min_replicas_max_lag = number_of(*lag);
}

} // namespace stint::redis
