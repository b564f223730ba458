#include "stores/fitness.hpp"

#include "redis/resp/numbers.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace stint::stores {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t oldest_version = 7; // the script reads INFO, and writes after TIME

bool is_old(std::string_view version) {
    const auto major = redis::parse_length(version.substr(0, version.find('.')));
    return !major || *major < oldest_version;
}

} // namespace

std::string unfit(const redis::ServerFacts& facts, const StoreSettings& settings) {
    if (facts.version.empty())
        return "it does not tell its version: the user may not run INFO";
    if (is_old(facts.version))
        return "its version is " + facts.version + ", which is older than 7.0";
    if (facts.role != "master")
        return "its role is " + facts.role + ", not master";
    if (facts.cluster == true && settings.cluster.empty())
        return "it is part of a Redis Cluster: list the Cluster's nodes under `cluster`";
    if (facts.cluster == false && !settings.cluster.empty())
        return "it is not part of a Redis Cluster: name it under `redis`";
    if (settings.assume_noeviction)
        return {};
    if (!facts.eviction_policy)
        return "it does not tell its eviction policy, because CONFIG is forbidden: "
               "if that is noeviction, `assume` says so";
    if (*facts.eviction_policy != "noeviction")
        return "its eviction policy is " + *facts.eviction_policy +
               ", not noeviction: an evicted counter would be given out twice";
    return {};
}

std::string slow_failover(std::span<const redis::VoterState> voters, Duration time_to_live) {
    Duration longest{};
    for (const redis::VoterState& each : voters)
        longest = std::max(longest, each.down_after);
    if (longest <= time_to_live / 2) // the rest is for the election
        return {};
    return std::to_string(longest / 1ms) +
           " ms pass before a primary that is silent counts as down: more than half of `session`, "
           "after two thirds of which gateways have no shares";
}

} // namespace stint::stores
