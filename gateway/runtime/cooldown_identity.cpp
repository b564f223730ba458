#include "runtime/cooldown_identity.hpp"

#include "runtime/compile_limit.hpp"

namespace stint::runtime {

std::optional<RoutePauses> pauses_of(const config::Config& config, const config::Route& route) {
    if (route.answer)
        return std::nullopt;
    const config::Upstream& upstream = config.upstreams[route.upstream];
    const std::optional<config::Cooldown>& from =
        route.cooldown ? route.cooldown : upstream.cooldown;
    if (!from || !from->on)
        return std::nullopt;
    using Scope = config::Cooldown::Scope;
    limits::CooldownIdentity identity{"route:" + route.name, "route"};
    if (from->scope == Scope::host || (from->scope == Scope::key && !route.cooldown))
        identity.owner = "upstream:" + upstream.name;
    if (from->scope == Scope::host)
        identity.scope = "host";
    if (from->scope == Scope::key)
        identity.scope = "key:" + key_of(from->key, config.prefixes).text();
    return RoutePauses{&*from, std::move(identity)};
}

} // namespace stint::runtime
