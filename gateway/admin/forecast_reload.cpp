#include "admin/forecast_reload.hpp"

#include "admin/forecast.hpp"
#include "admin/named_limit.hpp"
#include "runtime/compile.hpp"
#include "runtime/limit_changes.hpp"
#include "runtime/reload_effects.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace stint::admin {
namespace {

constexpr std::size_t keys_shown = 10; // by each limit's forecast

bool same_overrides(const config::Limit& a, const config::Limit& b) {
    return std::ranges::equal(
        a.overrides, b.overrides, [](const config::Override& one, const config::Override& other) {
            return one.key == other.key && one.quota == other.quota && one.burst == other.burst;
        });
}

// A store does not change what is forecast.
bool same_terms(limits::ForecastTerms a, limits::ForecastTerms b) {
    a.identity.store.clear();
    b.identity.store.clear();
    return a.identity == b.identity && a.numbers == b.numbers && a.cost == b.cost &&
           a.pace == b.pace;
}

// Returns the limit of the next configuration, if its decisions differ from those of the limit of
// its name in force.
std::optional<ForecastLimit> changed_limit(
    const runtime::Gateway& gateway,
    const config::Limit& next,
    const runtime::ConfiguredLimit& compiled) {
    const auto present = named_limit(gateway, next.name);
    if (!present || next.lock || present->settings.lock)
        return std::nullopt;
    ForecastLimit other = forecast_limit(next, compiled);
    const ForecastLimit own = forecast_limit(present->settings, present->limit);
    const bool same = same_terms(own.terms, other.terms) && same_overrides(present->settings, next);
    return same ? std::nullopt : std::optional{std::move(other)};
}

// Adds the changes at run time that the reload leaves in force.
void add_changes_that_stay(
    const runtime::Gateway& gateway, const config::Config& next, runtime::LimitChanges& to) {
    const auto forgotten = runtime::counter_effects(gateway.config(), next).forgotten();
    for (const auto& [target, change] : gateway.changes().overlay().limits().all())
        if (std::ranges::find(forgotten, target.limit) == forgotten.end())
            (void)to.put(change);
}

} // namespace

net::Task<Json> forecast_of_reload(runtime::Gateway& gateway, const config::Config& next) {
    // Compiled apart, so that no limit in force gets the next one's settings.
    limits::Registry registry;
    observe::MetricSlots slots;
    runtime::LimitChanges changes;
    add_changes_that_stay(gateway, next, changes);
    const runtime::Compiled compiled = runtime::compile(next, registry, slots, 1, changes);
    Json json = Json::object();
    for (std::size_t i = 0; i < next.limits.size(); ++i) {
        auto other = changed_limit(gateway, next.limits[i], compiled.limits[i]);
        if (other) {
            Json told =
                co_await forecast_json(gateway, next.limits[i].name, std::move(*other), keys_shown);
            json[next.limits[i].name] = std::move(told);
        }
    }
    co_return json;
}

} // namespace stint::admin
