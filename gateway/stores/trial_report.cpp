#include "stores/trial_report.hpp"

#include "stores/fitness.hpp"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace stint::stores {
namespace {

std::string line(std::string_view name, std::string_view text) {
    return fmt::format("{:<12} {}", fmt::format("{}:", name), text);
}

std::string server_words(const redis::ServerFacts& server) {
    std::string text = server.software + " " + server.version + ", role " + server.role;
    if (server.cluster == true)
        text += ", part of a Cluster";
    return text;
}

std::string replica_words(const redis::ServerFacts& server) {
    std::string text = !server.connected_replicas ? "unknown"
                       : *server.connected_replicas == 0
                           ? "none"
                           : std::to_string(*server.connected_replicas);
    if (server.min_replicas_to_write.value_or(0) > 0)
        text += fmt::format(
            ", min-replicas-to-write {}: it gives nothing while fewer follow it",
            *server.min_replicas_to_write);
    return text;
}

std::string persistence_words(const redis::ServerFacts& server) {
    if (!server.append_only)
        return "unknown";
    return *server.append_only
               ? "append-only file, appendfsync " + server.append_fsync.value_or("?")
               : "no append-only file: not needed";
}

std::string eviction_words(const StoreSettings& settings, const redis::ServerFacts& server) {
    return server.eviction_policy.value_or("unknown") +
           (settings.assume_noeviction ? ", assumed to be noeviction" : "");
}

std::string length_words(Duration length) {
    return fmt::format("{:.3g} s", std::chrono::duration<double>{length}.count());
}

std::string promise(const StoreSettings& settings, const TrialFacts& facts) {
    const bool replicated = facts.server.connected_replicas.value_or(0) > 0;
    const bool promotes = settings.sentinels || (!settings.cluster.empty() && replicated);
    return fmt::format(
        "can be used: all gateways together admit what one would, whatever the server loses; "
        "without it they go on within their shares for {}, {}",
        length_words(settings.time_to_live * 2 / 3),
        promotes     ? "and a failover within that time costs no request"
        : replicated ? "and somebody has to make a replica the server behind its address"
                     : "and no replica takes its place");
}

// Returns why the store cannot be used; empty: it can.
std::string obstacle(const StoreSettings& settings, const TrialFacts& facts) {
    if (!facts.failure.empty())
        return facts.failure;
    if (std::string why = unfit(facts.server, settings); !why.empty())
        return why;
    if (!facts.refused.empty())
        return "the server refuses commands that it has to carry out";
    return {};
}

void add_voters(const StoreSettings& settings, const TrialFacts& facts, TrialReport& report) {
    const std::string_view voter = settings.sentinels ? "sentinel" : "node";
    if (const std::string slow = slow_failover(facts.voters, settings.time_to_live); !slow.empty())
        report.lines.push_back(line(voter, slow));
    for (const redis::VoterState& each : facts.voters)
        report.lines.push_back(line(
            voter,
            each.address + (each.error.empty() ? " names " + each.names : ": " + each.error)));
}

} // namespace

TrialReport trial_report(const StoreSettings& settings, const TrialFacts& facts) {
    TrialReport report;
    add_voters(settings, facts, report);
    if (!facts.address.empty())
        report.lines.push_back(line("address", facts.address));
    if (!facts.server.version.empty()) {
        report.lines.push_back(line("server", server_words(facts.server)));
        report.lines.push_back(line("eviction", eviction_words(settings, facts.server)));
        report.lines.push_back(line("persistence", persistence_words(facts.server)));
        report.lines.push_back(line("replicas", replica_words(facts.server)));
    }
    for (const std::string& each : facts.refused)
        report.lines.push_back(line("refused", each));
    if (facts.round_trip > Duration::zero()) {
        const bool late = facts.round_trip > settings.timeout;
        report.lines.push_back(line(
            "round trip", fmt::format(
                              "{} us{}", facts.round_trip / std::chrono::microseconds{1},
                              late ? ", longer than `timeout`: no request waits so long" : "")));
    }
    const std::string why = obstacle(settings, facts);
    report.usable = why.empty();
    report.lines.push_back(report.usable ? promise(settings, facts) : "cannot be used: " + why);
    return report;
}

} // namespace stint::stores
