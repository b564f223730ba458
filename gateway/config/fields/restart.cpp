#include "config/fields/restart.hpp"

#include "config/fields/tables.hpp"

namespace stint::config {

namespace {

// Returns the value of a top-level key as GET /config shows it.
Shown::Map shown_value(const FieldOf<Config>& field, const Config& config) {
    Shown::Map members;
    if (field.show != nullptr)
        field.show(field, config, config, members);
    return members;
}

// Returns the configuration with default TLS settings of the admin listener, so that a comparison
// ignores changes of them, which a reload applies. TLS stays on or off as it was, because turning
// it on or off needs a restart.
Config with_default_admin_tls(Config config) {
    if (config.admin && config.admin->tls)
        config.admin->tls = Tls{};
    return config;
}

} // namespace

std::vector<std::string_view> need_restart(const Config& former, const Config& next) {
    const Config before = with_default_admin_tls(former);
    const Config after = with_default_admin_tls(next);
    std::vector<std::string_view> keys;
    for (const FieldOf<Config>& field : config_fields())
        if (field.reload == Reload::restart &&
            shown_value(field, before) != shown_value(field, after))
            keys.push_back(field.key);
    return keys;
}

} // namespace stint::config
