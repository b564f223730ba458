#include "admin/overlay.hpp"

#include "admin/config_json.hpp"
#include "observe/json_line.hpp"

#include <algorithm>
#include <string>

namespace stint::admin {
namespace {

std::string time_text(WallTime time) {
    std::string text;
    observe::append_rfc3339(text, time);
    return text;
}

Json change(const char* kind, WallTime since) {
    return {{"kind", kind}, {"since", time_text(since)}};
}

Json shown(const config::Limit& limit, const runtime::LiveOverride& override, const Now& now) {
    Json json = change("override", override.since);
    json["limit"] = limit.name;
    json["key"] = override.pattern;
    json["value"] = numbers_json(limit, override.numbers);
    if (override.expires) {
        const Duration left = *override.expires - now.steady;
        json["until"] = time_text(now.wall + left);
        json["expires_in_ms"] = ceil_ms(left);
    }
    return json;
}

} // namespace

Json overlay_json(
    const runtime::RuntimeOverlay& overlay, const config::Config& config, const Now& now) {
    Json changes = Json::array();
    for (const auto& [place, override] : overlay.overrides().all()) {
        const auto limit = std::ranges::find(config.limits, place.first, &config::Limit::name);
        if (limit != config.limits.end() && (!override.expires || *override.expires > now.steady))
            changes.push_back(shown(*limit, override, now));
    }
    for (const runtime::DrainedEndpoint& each : overlay.drained()) {
        Json json = change("drained_endpoint", each.since);
        json["upstream"] = each.upstream;
        json["endpoint"] = each.endpoint;
        changes.push_back(std::move(json));
    }
    for (const runtime::EndedLease& each : overlay.ended_leases()) {
        Json json = change("ended_lease", each.at);
        json["lock"] = each.lock;
        json["lease"] = each.lease;
        changes.push_back(std::move(json));
    }
    return changes;
}

} // namespace stint::admin
