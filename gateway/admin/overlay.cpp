#include "admin/overlay.hpp"

#include "admin/config_json.hpp"
#include "observe/json_line.hpp"

#include <map>
#include <string>
#include <string_view>

namespace stint::admin {
namespace {

using Kind = runtime::LimitChange::Kind;

std::string time_text(WallTime time) {
    std::string text;
    observe::append_rfc3339(text, time);
    return text;
}

Json record(const char* kind, WallTime since, const runtime::Attribution& by) {
    Json json{{"kind", kind}, {"since", time_text(since)}};
    if (!by.who.empty())
        json["who"] = by.who;
    if (!by.why.empty())
        json["why"] = by.why;
    return json;
}

const char* kind_text(Kind kind) {
    switch (kind) {
    case Kind::numbers:
        return "override";
    case Kind::block_key:
    case Kind::block_client:
        return "block";
    case Kind::enforce:
        return "enforce";
    }
    return "";
}

bool is_live(const runtime::LimitChange& change, SteadyTime now) {
    return !change.expires || *change.expires > now;
}

} // namespace

Json change_json(const runtime::LimitChange& change, const config::Limit& limit, const Now& now) {
    const auto& [name, kind, key] = change.target;
    Json json = record(kind_text(kind), change.since, change.by);
    json["limit"] = name;
    if (!key.empty())
        json[kind == Kind::block_client ? "client" : "key"] = key;
    if (kind == Kind::numbers)
        json["value"] = numbers_json(limit, change.numbers);
    if (kind == Kind::enforce)
        json["value"] = change.enforce;
    if (change.expires) {
        const Duration left = *change.expires - now.steady;
        json["until"] = time_text(now.wall + left);
        json["expires_in_ms"] = ceil_ms(left);
    }
    return json;
}

Json overlay_json(
    const runtime::RuntimeOverlay& overlay, const config::Config& config, const Now& now) {
    Json changes = Json::array();
    std::map<std::string_view, const config::Limit*> limits;
    if (!overlay.limits().empty())
        for (const config::Limit& each : config.limits)
            limits.emplace(each.name, &each);
    for (const auto& [target, change] : overlay.limits().all())
        if (const auto limit = limits.find(target.limit);
            limit != limits.end() && is_live(change, now.steady))
            changes.push_back(change_json(change, *limit->second, now));
    for (const runtime::DrainedEndpoint& each : overlay.drained()) {
        Json json = record("drained_endpoint", each.since, each.by);
        json["upstream"] = each.upstream;
        json["endpoint"] = each.endpoint;
        changes.push_back(std::move(json));
    }
    for (const runtime::EndedLease& each : overlay.ended_leases()) {
        Json json = record("ended_lease", each.at, each.by);
        json["lock"] = each.lock;
        json["lease"] = each.lease;
        changes.push_back(std::move(json));
    }
    for (const runtime::ClearedCounters& each : overlay.cleared()) {
        Json json = record("cleared_counters", each.at, each.by);
        json["limit"] = each.limit;
        if (each.key)
            json["key"] = *each.key;
        changes.push_back(std::move(json));
    }
    return changes;
}

} // namespace stint::admin
