#include "runtime/reload_effects.hpp"

#include "base/lock_names.hpp"
#include "config/fields/restart.hpp"
#include "config/fields/tables.hpp"
#include "runtime/compile_limit.hpp"
#include "runtime/cooldown_identity.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace stint::runtime {
namespace {

using LimitsByName = std::unordered_map<std::string_view, const config::Limit*>;

LimitsByName limits_by_name(const config::Config& config) {
    LimitsByName limits;
    for (const config::Limit& limit : config.limits)
        limits.emplace(limit.name, &limit);
    return limits;
}

const config::Limit* limit_named(const LimitsByName& limits, std::string_view name) {
    const auto found = limits.find(name);
    return found == limits.end() ? nullptr : found->second;
}

// A part of a configuration with its settings, as GET /config shows them.
struct ComparedPart {
    std::string name;
    config::Shown settings;
};
using ComparedParts = std::vector<ComparedPart>;

PartEffects effects_of(const ComparedParts& former, const ComparedParts& next) {
    std::unordered_map<std::string_view, const config::Shown*> before;
    for (const ComparedPart& each : former)
        before.emplace(each.name, &each.settings);
    PartEffects effects;
    for (const ComparedPart& each : next) {
        const auto known = before.find(each.name);
        if (known == before.end())
            effects.added.push_back(each.name);
        else if (*known->second != each.settings)
            effects.changed.push_back(each.name);
        if (known != before.end())
            before.erase(known);
    }
    for (const ComparedPart& each : former)
        if (before.contains(each.name))
            effects.removed.push_back(each.name);
    return effects;
}

enum class LimitPart : std::uint8_t { limit, cap, lock };

LimitPart part_of(const config::Limit& limit) {
    if (limit.lock)
        return LimitPart::lock;
    return limit.kind == config::Limit::Kind::cap ? LimitPart::cap : LimitPart::limit;
}

// Returns the limits of one sort. A prefix that a limit inherits from the top level is part of its
// settings.
ComparedParts limit_parts(const config::Config& config, LimitPart sort) {
    config::Config none;
    none.stores = config.stores; // `shared` is shown by the store's name
    none.prefixes = {0, 0};      // no limit has these
    const auto table = sort == LimitPart::lock ? config::lock_fields() : config::limit_fields();
    ComparedParts parts;
    for (const config::Limit& limit : config.limits) {
        if (part_of(limit) != sort)
            continue;
        const std::string_view name =
            sort == LimitPart::lock ? lock_name(limit.name) : std::string_view{limit.name};
        parts.push_back({std::string{name}, config::shown(table, limit, none)});
    }
    return parts;
}

// Returns a part for each set of pauses, with every `cooldown` section by which routes take part in
// it: a route may have a section of its own with scope: host.
ComparedParts cooldown_parts(const config::Config& config) {
    std::map<limits::CooldownIdentity, config::Shown::List> sets;
    std::set<std::pair<limits::CooldownIdentity, const config::Cooldown*>> seen;
    for (const config::Route& route : config.routes)
        if (const auto pauses = pauses_of(config, route))
            if (seen.emplace(pauses->identity, pauses->settings).second)
                sets[pauses->identity].push_back(
                    config::shown(config::cooldown_fields(), *pauses->settings, config));
    ComparedParts parts;
    for (auto& [identity, settings] : sets)
        parts.push_back({identity.owner + " " + identity.scope, std::move(settings)});
    return parts;
}

ComparedParts endpoint_parts(const config::Config& config) {
    ComparedParts parts;
    for (const config::Upstream& upstream : config.upstreams)
        for (const config::Endpoint& endpoint : upstream.endpoints)
            parts.push_back(
                {upstream.name + " " + endpoint.text,
                 config::shown(config::endpoint_fields(), endpoint, config)});
    return parts;
}

} // namespace

std::vector<std::string> CounterEffects::forgotten() const {
    std::vector<std::string> all = begin_anew;
    all.insert(all.end(), ended.begin(), ended.end());
    return all;
}

CounterEffects counter_effects(const config::Config& former, const config::Config& next) {
    const LimitsByName before = limits_by_name(former);
    const LimitsByName after = limits_by_name(next);
    CounterEffects effects;
    for (const config::Limit& limit : next.limits)
        if (const config::Limit* const known = limit_named(before, limit.name))
            (identity_of(*known, former) == identity_of(limit, next) ? effects.kept
                                                                     : effects.begin_anew)
                .push_back(limit.name);
    for (const config::Limit& limit : former.limits)
        if (limit_named(after, limit.name) == nullptr)
            effects.ended.push_back(limit.name);
    return effects;
}

std::vector<std::string> reload_notes(
    const config::Config& former, const config::Config& next, const CounterEffects& counters) {
    std::vector<std::string> notes;
    for (const std::string& limit : counters.begin_anew)
        notes.push_back(
            "limit " + limit +
            ": its kind, key, anchor or per has changed, so its counts begin anew");
    for (const std::string_view key : config::need_restart(former, next))
        notes.push_back(std::string{key} + ": takes effect with a restart");
    return notes;
}

ReloadEffects reload_effects(const config::Config& former, const config::Config& next) {
    const auto limits = [&](LimitPart sort) {
        return effects_of(limit_parts(former, sort), limit_parts(next, sort));
    };
    return {
        .counters = counter_effects(former, next),
        .limits = limits(LimitPart::limit),
        .caps = limits(LimitPart::cap),
        .locks = limits(LimitPart::lock),
        .cooldowns = effects_of(cooldown_parts(former), cooldown_parts(next)),
        .endpoints = effects_of(endpoint_parts(former), endpoint_parts(next))};
}

} // namespace stint::runtime
