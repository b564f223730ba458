#include "admin/overrides.hpp"

#include "admin/change_body.hpp"
#include "admin/config_json.hpp"
#include "admin/named_limit.hpp"

#include <utility>

namespace stint::admin {
namespace {

using runtime::LimitChange;
using Kind = LimitChange::Kind;

std::string number_of(const config::Limit& limit) {
    return limit.kind == config::Limit::Kind::cap ? "concurrent" : "requests";
}

bool has_burst(const config::Limit& limit) {
    return limit.algorithm == config::Limit::Algorithm::token_bucket && !limit.pace;
}

Json shown(const LimitChange& override, const config::Limit& limit, const Now& now) {
    Json json = numbers_json(limit, override.numbers);
    json["set_at_run_time"] = true;
    if (override.expires)
        json["expires_in_ms"] = ceil_ms(*override.expires - now.steady);
    return json;
}

// Returns the target's key. The error is the response to send.
Result<std::string, Response> target_key(const NamedLimit& limit, const std::string& key) {
    if (limit.settings.lock)
        return problem(400, "A lock has no overrides: its number of holders is in the file.");
    return key.empty() ? Result<std::string, Response>{key} : key_or_pattern(limit, key);
}

} // namespace

Result<LimitChange, Response>
override_in(std::string_view body, const config::Limit& limit, std::string key, const Now& now) {
    const std::string number = number_of(limit);
    const bool burst = has_burst(limit);
    auto object = object_in(
        body, "The body must be a JSON object such as {" + in_quotes(number) +
                  ": 200, \"for\": \"2h\"}.");
    if (!object)
        return std::move(object).error();
    ChangeBody read = burst ? ChangeBody{*object, {number, "burst", "for", "expires_in_ms"}}
                            : ChangeBody{*object, {number, "for", "expires_in_ms"}};
    const bool cap = limit.kind == config::Limit::Kind::cap;
    LimitChange made{.target = {limit.name, Kind::numbers, std::move(key)}, .since = now.wall};
    made.numbers.quota = read.count(
        number, cap ? config::most_concurrent : config::most_requests,
        "; to refuse a key, POST to /limits/NAME/block");
    if (burst)
        made.numbers.burst = read.count("burst", config::most_requests);
    made.expires = read.end(now);
    made.by = read.attribution();
    if (made.numbers.quota == 0)
        read.wrong(in_quotes(number) + " is missing");
    else if (!config::refills_in_time(
                 made.numbers.burst > 0 ? made.numbers.burst : limit.burst, made.numbers.quota,
                 limit.per))
        read.wrong("\"burst\" would take more than 366 days to fill");
    if (auto error = read.error())
        return std::move(*error);
    return made;
}

void add_overrides(
    Json& limit_json,
    const config::Limit& limit,
    const runtime::LimitChanges& changes,
    const Now& now) {
    for (const LimitChange& each : changes.of(limit.name, Kind::numbers))
        if (!each.target.key.empty() && (!each.expires || *each.expires > now.steady))
            limit_json["overrides"][each.target.key] = shown(each, limit, now);
}

Response put_override(
    runtime::Gateway& gateway,
    const std::string& name,
    const std::string& key,
    std::string_view body) {
    const auto limit = named_limit(gateway, name);
    if (!limit)
        return limit.error();
    auto target = target_key(*limit, key);
    if (!target)
        return std::move(target).error();
    const Now now = gateway.now();
    auto made = override_in(body, limit->settings, std::move(*target), now);
    if (!made)
        return std::move(made).error();
    Json json{{"name", name}};
    if (!made->target.key.empty())
        json["key"] = made->target.key;
    json.update(shown(*made, limit->settings, now));
    if (!gateway.changes().put(std::move(*made)))
        return problem(
            409, "There are " + std::to_string(runtime::LimitChanges::most) +
                     " changes already: end some first.");
    return json_response(json);
}

Response delete_override(
    runtime::Gateway& gateway,
    const std::string& name,
    const std::string& key,
    std::string_view query) {
    const auto limit = named_limit(gateway, name);
    if (!limit)
        return limit.error();
    const auto target = target_key(*limit, key);
    if (!target)
        return target.error();
    const auto by = attribution_in(query);
    if (!by)
        return by.error();
    if (!gateway.changes().erase({name, Kind::numbers, *target}, *by))
        return problem(
            404, "No override of " + name + " was set for " +
                     (key.empty() ? "the whole limit" : "this key") + " at run time.");
    Json json{{"name", name}};
    if (!target->empty())
        json["key"] = *target;
    json["deleted"] = true;
    return json_response(json);
}

} // namespace stint::admin
