// A limit's settings as JSON.
#include "admin/config_json.hpp"
#include "config/sections/section_showers.hpp"

namespace stint::admin {

Json numbers_json(const config::Limit& limit, limits::Numbers numbers) {
    return to_json(config::shown_numbers(limit, numbers.quota, numbers.burst));
}

Json limit_settings_json(const config::Limit& limit) {
    static const config::Config none; // a limit's settings depend on no others
    return to_json(config::shown_limit(limit, none));
}

} // namespace stint::admin
