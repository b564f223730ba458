#include "config/fields/restart.hpp"

#include "config/fields/tables.hpp"

namespace stint::config {

namespace {

// The value, as GET /config shows it.
Shown::Map shown_value(const FieldOf<Config>& field, const Config& config) {
    Shown::Map members;
    if (field.show != nullptr)
        field.show(field, config, config, members);
    return members;
}

// Sets TLS of the admin listener, where it has any, to its defaults: a reload applies its settings
// to new connections.
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
