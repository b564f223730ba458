#include "admin/config_json.hpp"

#include "base/lock_names.hpp"
#include "config/fields/limit_rows.hpp"
#include "config/fields/tables.hpp"
#include "config/fields/units.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace stint::admin {
namespace {

using config::Shown;
using Nanoseconds = std::chrono::nanoseconds;

// Returns the text with "$${" in place of "${", which would begin a variable in a configuration
// file.
std::string without_variables(std::string text) {
    constexpr std::string_view opening = "${";
    for (std::size_t at = 0; (at = text.find(opening, at)) != std::string::npos;
         at += opening.size() + 1)
        text.insert(at, 1, '$');
    return text;
}

} // namespace

Json file_json(const Shown& shown) {
    return std::visit(
        [](const auto& value) -> Json {
            using T = std::remove_cvref_t<decltype(value)>;
            if constexpr (std::is_same_v<T, Shown::List>) {
                Json list = Json::array();
                for (const Shown& each : value)
                    list.push_back(file_json(each));
                return list;
            } else if constexpr (std::is_same_v<T, Shown::Map>) {
                Json::object_t map; // a vector of members; each name is there once
                for (const Shown::Member& each : value)
                    map.emplace_back(each.name, file_json(each.value));
                return map;
            } else if constexpr (std::is_same_v<T, Nanoseconds>) {
                return config::duration_text(value);
            } else if constexpr (std::is_same_v<T, Shown::Bytes>) {
                return config::size_text(value.count);
            } else if constexpr (std::is_same_v<T, Shown::Written>) {
                return value.text;
            } else if constexpr (std::is_same_v<T, Shown::Secret>) {
                return Shown::hidden_text;
            } else if constexpr (std::is_same_v<T, std::string>) {
                return without_variables(value);
            } else {
                return value;
            }
        },
        shown.value());
}

namespace {

// Adds a setting to live state, with the unit in its name.
void add_setting(Json& json, const Shown::Member& setting) {
    const auto plain = [](const Shown& shown) -> Json {
        const auto* const text = std::get_if<std::string>(&shown.value());
        return text != nullptr ? Json(*text) : file_json(shown);
    };
    if (const auto* const length = std::get_if<Nanoseconds>(&setting.value.value())) {
        json[setting.name + "_ms"] = ms_json(*length);
    } else if (const auto* const list = std::get_if<Shown::List>(&setting.value.value())) {
        Json items = Json::array();
        for (const Shown& each : *list)
            items.push_back(plain(each));
        json[setting.name] = std::move(items);
    } else {
        json[setting.name] = plain(setting.value);
    }
}

// Returns a section's settings, with units in their names. Only for tables that show a section
// independently of the rest of the configuration.
template <class S>
Json settings_json(config::Table<S> table, const S& section) {
    static const config::Config none = [] {
        config::Config config;
        config.prefixes = {0, 0}; // no limit has these, so each limit's own prefixes are shown
        return config;
    }();
    Json json = Json::object();
    for (const Shown::Member& each : config::shown(table, section, none))
        add_setting(json, each);
    return json;
}

bool is_number_of_limit(std::string_view name) {
    constexpr std::array<std::string_view, 3> names{"requests", "concurrent", "burst"};
    return std::ranges::find(names, name) != names.end();
}

} // namespace

RunningConfig running(const config::Config& at_start) {
    return {at_start.admin, at_start.workers, at_start.state};
}

Json config_json(const config::Config& config) {
    return file_json(config::shown(config::config_fields(), config, config));
}

config::Config with_running(config::Config in_force, const RunningConfig& running) {
    in_force.workers = running.workers;
    std::optional<config::Tls> tls = in_force.admin ? in_force.admin->tls : std::nullopt;
    in_force.admin = running.admin;
    // A reload applies changed TLS settings, but turns TLS neither on nor off.
    if (in_force.admin && in_force.admin->tls && tls)
        in_force.admin->tls = std::move(tls);
    in_force.state = running.state;
    return in_force;
}

Json config_json(const config::Config& config, const RunningConfig& running) {
    return config_json(with_running(config, running));
}

Json ms_json(Nanoseconds duration) {
    constexpr Nanoseconds ms = std::chrono::milliseconds{1};
    if (duration % ms == Nanoseconds{0})
        return duration / ms;
    return static_cast<double>(duration.count()) / static_cast<double>(ms.count());
}

Json timeouts_json(
    const config::Timeouts& defaults,
    const config::TimeoutOverrides& upstream,
    const config::TimeoutOverrides& route) {
    const auto pick = [](const auto& first, const auto& second, std::chrono::milliseconds other) {
        return std::optional{first.value_or(second.value_or(other))};
    };
    const config::TimeoutOverrides in_force{
        pick(route.body_idle, upstream.body_idle, defaults.body_idle),
        pick(route.connect, upstream.connect, defaults.connect),
        pick(route.response, upstream.response, defaults.response),
        pick(route.tunnel_idle, upstream.tunnel_idle, defaults.tunnel_idle)};
    return settings_json(config::timeout_override_fields(), in_force);
}

Json match_json(const config::Match& match) {
    return settings_json(config::match_fields(), match);
}

Json limit_names_json(const config::Config& config, const config::Route& route) {
    Json names = Json::array();
    for (const std::size_t index : route.limits)
        names.push_back(config.limits[index].name);
    return names;
}

Json numbers_json(const config::Limit& limit, limits::Numbers numbers) {
    Json json{{"limit", numbers.quota}};
    const std::uint64_t most = numbers.burst > 0 ? numbers.burst : limit.burst;
    if (limit.algorithm == config::Limit::Algorithm::token_bucket && !limit.pace)
        json["burst"] = most > 0 ? most : numbers.quota;
    return json;
}

Json limit_settings_json(const config::Limit& limit) {
    const auto rows = config::limit_fields().subspan(1); // without `name`
    const auto waiting = config::rows_from(rows, config::when_exceeded_row.key);
    Json json{{"kind", limit.kind == config::Limit::Kind::window ? "window" : "cap"}};
    json.update(numbers_json(limit, {limit.quota, limit.burst}));
    const Json counting =
        settings_json(config::rows_before(rows, config::when_exceeded_row.key), limit);
    for (const auto& [name, value] : counting.items())
        if (!is_number_of_limit(name))
            json[name] = value;
    for (const config::Override& each : limit.overrides)
        json["overrides"][each.key] = numbers_json(limit, {each.quota, each.burst});
    if (limit.lock)
        json["lock"] = lock_name(limit.name);
    json.update(settings_json(config::rows_before(waiting, config::limit_headers_row.key), limit));
    if (!limit.route.empty())
        json["route"] = limit.route;
    return json;
}

} // namespace stint::admin
