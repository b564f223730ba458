#include "runtime/protected_fields.hpp"

#include "config/schema/key_sources.hpp"

#include <set>

namespace stint::runtime {
namespace {

using Names = std::set<std::string>;

void add_key(const std::vector<config::KeySource>& key, Names& names) {
    for (const config::KeySource& source : key)
        if (source.kind == config::KeySource::Kind::header)
            names.insert(source.name);
}

void add_cooldown(const std::optional<config::Cooldown>& cooldown, Names& names) {
    if (cooldown)
        add_key(cooldown->key, names);
}

} // namespace

std::vector<std::string> protected_fields(const config::Config& config) {
    Names names;
    for (const config::Limit& limit : config.limits) {
        add_key(config::key_sources(limit), names);
        if (!limit.cost_request_field.empty())
            names.insert(limit.cost_request_field);
    }
    for (const config::Upstream& upstream : config.upstreams)
        add_cooldown(upstream.cooldown, names);
    for (const config::Route& route : config.routes)
        add_cooldown(route.cooldown, names);
    if (!config.trusted_proxies.networks.empty() || config.trusted_proxies.unix_peers)
        names.insert(config.trusted_proxies.header);
    return {names.begin(), names.end()};
}

} // namespace stint::runtime
