#include "admin/overrides.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace stint::admin {
namespace {

using namespace std::chrono_literals;
using runtime::LiveOverride;

constexpr std::uint64_t most_requests = 1'000'000'000'000;
constexpr std::uint64_t most_at_once = 1'000'000;
constexpr auto longest = std::chrono::milliseconds{366 * 24h};

const char* number_of(const config::Limit& limit) {
    return limit.kind == config::Limit::Kind::cap ? "concurrent" : "requests";
}

// A whole number from 1 to `most`.
std::optional<std::uint64_t> count_in(const Json& value, std::uint64_t most) {
    if (!value.is_number_unsigned())
        return std::nullopt;
    const auto count = value.get<std::uint64_t>();
    return count >= 1 && count <= most ? std::optional{count} : std::nullopt;
}

Json override_json(const LiveOverride& override, const Now& now) {
    Json json{{"limit", override.quota}, {"set_at_run_time", true}};
    if (override.expires)
        json["expires_in_ms"] = ceil_ms(*override.expires - now.steady);
    return json;
}

struct Place {
    std::size_t limit;
    std::string pattern; // canonical
};

// The limit and the key as its requests spell it.
Result<Place, Response>
place_of(const runtime::Gateway& gateway, const std::string& name, const std::string& key) {
    const auto index = gateway.limit_named(name);
    if (!index)
        return problem(404, "There is no limit named \"" + name + "\".");
    const runtime::ConfiguredLimit& limit = gateway.compiled().limits[*index];
    if (!limit.limit->keyed())
        return problem(400, "The limit " + name + " has no key: it has one counter for all.");
    if (routing::is_glob(key))
        return Place{*index, key};
    auto canonical = limit.key.canonical(key);
    if (!canonical)
        return problem(
            400, "No request has such a key: the limit counts by " + limit.key.text() + ".");
    return Place{*index, std::move(*canonical)};
}

} // namespace

Result<LiveOverride, Response> override_in(
    std::string_view body, const config::Limit& limit, std::string pattern, const Now& now) {
    const std::string number = number_of(limit);
    const Json json = Json::parse(body, nullptr, false);
    if (!json.is_object())
        return problem(
            400, "The body must be a JSON object such as {\"" + number +
                     "\": 200, \"expires_in_ms\": 7200000}.");
    for (const auto& [name, value] : json.items())
        if (name != number && name != "expires_in_ms")
            return problem(
                400,
                "\"" + name + "\" is unknown: there are \"" + number + "\" and \"expires_in_ms\".");
    const std::uint64_t most =
        limit.kind == config::Limit::Kind::cap ? most_at_once : most_requests;
    const auto quota = json.contains(number) ? count_in(json[number], most) : std::nullopt;
    if (!quota)
        return problem(
            400,
            "\"" + number + "\" must be a whole number from 1 to " + std::to_string(most) + ".");
    LiveOverride made{std::move(pattern), *quota, std::nullopt};
    if (json.contains("expires_in_ms")) {
        const auto ms =
            count_in(json["expires_in_ms"], static_cast<std::uint64_t>(longest.count()));
        if (!ms)
            return problem(
                400, "\"expires_in_ms\" must be a whole number from 1 to " +
                         std::to_string(longest.count()) + " (366 days).");
        made.expires = now.steady + std::chrono::milliseconds{*ms};
    }
    return made;
}

void add_overrides(
    Json& limit_json,
    const config::Limit& limit,
    const runtime::LiveOverrides& overrides,
    const Now& now) {
    for (const LiveOverride& each : overrides.of(limit.name))
        if (!each.expires || *each.expires > now.steady)
            limit_json["overrides"][each.pattern] = override_json(each, now);
}

Response put_override(
    runtime::Gateway& gateway,
    const std::string& name,
    const std::string& key,
    std::string_view body) {
    auto place = place_of(gateway, name, key);
    if (!place)
        return std::move(place).error();
    const config::Limit& limit = gateway.config().limits[place->limit];
    const Now now = gateway.now();
    auto override = override_in(body, limit, std::move(place->pattern), now);
    if (!override)
        return std::move(override).error();
    const LiveOverride made = *override;
    Json json{{"name", name}, {"key", made.pattern}};
    json.update(override_json(made, now));
    if (!gateway.put_override(name, made))
        return problem(
            409, "There are " + std::to_string(runtime::LiveOverrides::most) +
                     " overrides already: delete some first.");
    return json_response(json);
}

Response
delete_override(runtime::Gateway& gateway, const std::string& name, const std::string& key) {
    const auto place = place_of(gateway, name, key);
    if (!place)
        return place.error();
    if (!gateway.erase_override(name, place->pattern))
        return problem(404, "No override of " + name + " was set for this key at run time.");
    return json_response({{"name", name}, {"key", place->pattern}, {"deleted", true}});
}

} // namespace stint::admin
