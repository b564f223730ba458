#include "admin/overrides.hpp"

#include "admin/config_json.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

namespace stint::admin {
namespace {

using namespace std::chrono_literals;
using runtime::LiveOverride;

constexpr auto longest = std::chrono::milliseconds{366 * 24h};

const char* number_of(const config::Limit& limit) {
    return limit.kind == config::Limit::Kind::cap ? "concurrent" : "requests";
}

bool has_burst(const config::Limit& limit) {
    return limit.algorithm == config::Limit::Algorithm::token_bucket && !limit.pace;
}

// Reads members of the body, and keeps the first error.
class Body {
  public:
    Body(const Json& json, std::initializer_list<std::string_view> members) : json_{json} {
        for (const auto& [name, value] : json.items())
            if (std::ranges::find(members, name) == members.end())
                wrong(in_quotes(name) + " is unknown: there are " + listed(members));
    }

    // Returns the member's whole number from 1 to `most`; 0 if the member is absent or invalid.
    std::uint64_t count(const std::string& name, std::uint64_t most) {
        const auto found = json_.find(name);
        if (found == json_.end())
            return 0;
        if (found->is_number_unsigned())
            if (const auto count = found->get<std::uint64_t>(); count >= 1 && count <= most)
                return count;
        wrong(in_quotes(name) + " must be a whole number from 1 to " + std::to_string(most));
        return 0;
    }

    void wrong(std::string why) {
        if (!wrong_)
            wrong_ = std::move(why);
    }
    [[nodiscard]] const std::optional<std::string>& what_is_wrong() const { return wrong_; }

  private:
    static std::string listed(std::initializer_list<std::string_view> members) {
        std::string text;
        for (const std::string_view each : members)
            text.append(text.empty() ? "" : ", ").append(in_quotes(each));
        return text;
    }

    const Json& json_;
    std::optional<std::string> wrong_;
};

Json shown(const LiveOverride& override, const config::Limit& limit, const Now& now) {
    Json json = numbers_json(limit, override.numbers);
    json["set_at_run_time"] = true;
    if (override.expires)
        json["expires_in_ms"] = ceil_ms(*override.expires - now.steady);
    return json;
}

struct Place {
    std::size_t limit;
    std::string pattern; // the key in canonical form, or a glob pattern
};

// Finds the limit, and converts the key to the canonical form that routing uses. The error is the
// response to send.
Result<Place, Response>
place_of(const runtime::Gateway& gateway, const std::string& name, const std::string& key) {
    const auto index = gateway.store().limit_named(name);
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
    auto object = object_in(
        body, "The body must be a JSON object such as {" + in_quotes(number) +
                  ": 200, \"expires_in_ms\": 7200000}.");
    if (!object)
        return std::move(object).error();
    const Json& json = *object;
    Body read = has_burst(limit) ? Body{json, {number, "burst", "expires_in_ms"}}
                                 : Body{json, {number, "expires_in_ms"}};
    const bool cap = limit.kind == config::Limit::Kind::cap;
    LiveOverride made{std::move(pattern), {}, {}, now.wall};
    made.numbers.quota = read.count(number, cap ? config::most_concurrent : config::most_requests);
    if (has_burst(limit))
        made.numbers.burst = read.count("burst", config::most_requests);
    if (const auto ms = read.count("expires_in_ms", static_cast<std::uint64_t>(longest.count())))
        made.expires = now.steady + std::chrono::milliseconds{ms};
    if (made.numbers.quota == 0)
        read.wrong(in_quotes(number) + " is missing");
    else if (!config::refills_in_time(made.numbers.burst, made.numbers.quota, limit.per))
        read.wrong("\"burst\" would take more than 366 days to fill");
    if (read.what_is_wrong())
        return problem(400, *read.what_is_wrong() + ".");
    return made;
}

void add_overrides(
    Json& limit_json,
    const config::Limit& limit,
    const runtime::LiveOverrides& overrides,
    const Now& now) {
    for (const LiveOverride& each : overrides.of(limit.name))
        if (!each.expires || *each.expires > now.steady)
            limit_json["overrides"][each.pattern] = shown(each, limit, now);
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
    json.update(shown(made, limit, now));
    if (!gateway.changes().put_override(name, made))
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
    if (!gateway.changes().erase_override(name, place->pattern))
        return problem(404, "No override of " + name + " was set for this key at run time.");
    return json_response({{"name", name}, {"key", place->pattern}, {"deleted", true}});
}

} // namespace stint::admin
