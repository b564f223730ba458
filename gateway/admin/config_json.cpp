#include "admin/config_json.hpp"

#include "config/fields/kinds.hpp"
#include "config/fields/tables.hpp"
#include "config/sections/section_showers.hpp"

#include <type_traits>
#include <variant>

namespace stint::admin {

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
    static const config::Config none; // output of a match does not depend on the configuration
    return to_json(config::shown(config::match_fields(), match, none));
}

Json limit_names_json(const config::Config& config, const config::Route& route) {
    return to_json(config::shown_limit_names(config, route));
}

Json numbers_json(const config::Limit& limit, limits::Numbers numbers) {
    return to_json(config::shown_numbers(limit, numbers.quota, numbers.burst));
}

Json limit_settings_json(const config::Limit& limit) {
    static const config::Config none; // output of a limit does not depend on the configuration
    return to_json(config::shown_limit(limit, none));
}

Json config_json(const config::Config& config, const RunningConfig& running) {
    config::Config in_force = config;
    in_force.workers = running.workers;
    in_force.pin_workers = running.pin_workers;
    in_force.admin = running.admin;
    in_force.state = running.state;
    return to_json(config::shown(config::config_fields(), in_force, in_force));
}

} // namespace stint::admin
