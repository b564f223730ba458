#include "admin/config_json.hpp"

#include "admin/shaping_json.hpp"
#include "base/lock_names.hpp"
#include "config/fields/kinds.hpp"
#include "config/fields/tables.hpp"
#include "config/sections/section_showers.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace stint::admin {
namespace {

template <class S>
Json section_json(config::Table<S> table, const S& section, const config::Config& config) {
    return to_json(config::shown(table, section, config));
}

Json limits_json(const config::Config& config) {
    Json limits = Json::object();
    for (const config::Limit& limit : config.limits)
        if (!limit.lock)
            limits[limit.name] = to_json(config::shown_whole_limit(limit, config));
    return limits;
}

Json locks_json(const config::Config& config) {
    Json locks = Json::object();
    for (const config::Limit& limit : config.limits)
        if (limit.lock)
            locks[std::string{lock_name(limit.name)}] =
                section_json(config::lock_fields(), limit, config);
    return locks;
}

Json max_body_json(const std::optional<std::uint64_t>& most) {
    return most ? Json(*most) : Json("off");
}

Json routes_json(const config::Config& config) {
    Json routes = Json::array();
    for (const config::Route& route : config.routes) {
        const config::Upstream& upstream = upstream_of(config, route);
        Json json{
            {"name", route.name},
            {"match", match_json(route.match)},
            {"limits", limit_names_json(config, route)},
            {"max_body_bytes", max_body_json(route.max_body)},
            {"headers", section_json(config::header_fields(), route.headers, config)},
            {"timeouts", timeouts_json(config.timeouts, upstream.timeouts, route.timeouts)}};
        if (route.require_fence)
            json["require_fence"] = lock_name(config.limits[*route.require_fence].name);
        add_action_json(config, route, json);
        if (!route.answer) {
            json["upgrade"] = route.upgrade.empty() ? Json("off") : Json(route.upgrade);
            json["cooldown"] = to_json(config::shown_cooldown(
                route.cooldown ? route.cooldown : upstream.cooldown, config));
            json["retry"] =
                to_json(config::shown_retry(route.retry ? route.retry : upstream.retry, config));
        }
        routes.push_back(std::move(json));
    }
    return routes;
}

} // namespace

Json to_json(const config::Shown& shown) {
    return std::visit(
        [](const auto& value) -> Json {
            using T = std::remove_cvref_t<decltype(value)>;
            if constexpr (std::is_same_v<T, config::Shown::List>) {
                Json list = Json::array();
                for (const config::Shown& each : value)
                    list.push_back(to_json(each));
                return list;
            } else if constexpr (std::is_same_v<T, config::Shown::Map>) {
                Json map = Json::object();
                for (const config::Shown::Member& each : value)
                    map[each.name] = to_json(each.value);
                return map;
            } else {
                return value;
            }
        },
        shown.value());
}

Json ms_json(std::chrono::nanoseconds duration) {
    return to_json(config::shown_ms(duration));
}

Json timeouts_json(
    const config::Timeouts& defaults,
    const config::TimeoutOverrides& upstream,
    const config::TimeoutOverrides& route) {
    return to_json(config::shown_timeouts(defaults, upstream, route));
}

Json match_json(const config::Match& match) {
    using Path = config::Match::Path;
    const char* const paths = match.kind == Path::exact   ? "path_exact"
                              : match.kind == Path::regex ? "path_regex"
                                                          : "path";
    Json json{{"host", match.host}, {paths, match.path}};
    if (!match.methods.empty())
        json["methods"] = match.methods;
    return json;
}

Json limit_names_json(const config::Config& config, const config::Route& route) {
    Json names = Json::array();
    for (const std::size_t index : route.limits)
        names.push_back(config.limits[index].name);
    return names;
}

Json config_json(const config::Config& config, const RunningConfig& running) {
    config::Config in_force = config;
    in_force.workers = running.workers;
    in_force.pin_workers = running.pin_workers;
    in_force.admin = running.admin;
    in_force.state = running.state;
    Json json = section_json(config::config_fields(), in_force, in_force);
    json["limits"] = limits_json(config);
    json["locks"] = locks_json(config);
    json["routes"] = routes_json(config);
    return json;
}

} // namespace stint::admin
