// Gateway: metrics of the process and its limits for a scrape.
#include "base/version.hpp"
#include "limits/reservation/reservations.hpp"
#include "net/clock.hpp"
#include "runtime/gateway.hpp"
#include "runtime/persistence.hpp"

#include <chrono>
#include <optional>

namespace stint::runtime {
namespace {

std::optional<observe::ProcessFigures::SlotFigures>
slots_of(const ConfiguredLimit& limit, const Now& now) {
    if (!limit.reserves)
        return std::nullopt;
    limits::Reservations& reservations = limit.limit->reservations();
    return observe::ProcessFigures::SlotFigures{
        reservations.out(now.steady), reservations.given(), reservations.claimed(),
        reservations.missed()};
}

} // namespace

observe::ProcessFigures Gateway::collect_metrics() const {
    observe::ProcessFigures figures;
    figures.version = version;
    figures.config_generation = generation_;
    figures.config_reloads = reloads_;
    figures.config_reload_failures = reload_failures_;
    figures.start_time_seconds =
        std::chrono::duration<double>(started_at_.time_since_epoch()).count();
    figures.workers = workers_.size();
    add_certificates(figures);
    figures.permits = config_.permits.has_value();
    figures.dynamic_limits = permits_.dynamic.size();
    figures.access_log_written = access_log_.written();
    figures.access_log_dropped = access_log_.dropped();
    const Now now = net::read_clocks();
    for (const ConfiguredLimit& each : compiled_.limits) {
        const bool cap = each.limit->identity().algorithm == limits::Algorithm::concurrency;
        const bool keyed = each.limit->keyed();
        figures.limits.push_back(
            {.name = each.limit->identity().name,
             .cap = cap,
             .keyed = keyed,
             .quota = each.numbers.quota,
             .used = cap ? each.limit->in_flight()
                     : keyed
                         ? 0
                         : each.limit
                               ->state_of(
                                   {.quota = each.numbers.quota, .burst = each.numbers.burst}, now)
                               .used,
             .live_keys = keyed ? each.limit->live_keys(now) : 0,
             .overflow = each.limit->overflowed(),
             .table_full = each.limit->table_full(),
             .overrides = each.rules != nullptr ? each.rules->overrides->size() : 0,
             .waits = each.waits,
             .waiting = each.limit->waiting(),
             .slots = slots_of(each, now)});
    }
    for (const locks::LockFigures& each : openings_.locks().collect_metrics())
        figures.locks.push_back(
            {.name = each.name,
             .max = each.max,
             .locks = each.locks,
             .held = each.held,
             .waiting = each.waiting,
             .granted = each.counts.granted,
             .refused = each.counts.refused,
             .released = each.counts.released,
             .disconnected = each.counts.disconnected,
             .forced = each.counts.forced,
             .expired = each.counts.expired});
    for (const limits::CooldownSetPtr& each : compiled_.cooldowns) {
        const limits::CooldownSet::Totals totals = each->totals(now.steady);
        figures.cooldowns.push_back(
            {each->identity().owner, each->identity().scope, totals.closed, totals.pauses,
             totals.refused, totals.waiting});
    }
    figures.endpoints = endpoint_figures();
    if (const auto state = persistence_ ? persistence_->collect_metrics() : std::nullopt)
        figures.state = {
            state->writes, state->write_failures, state->last_write_seconds, state->round_seconds};
    return figures;
}

} // namespace stint::runtime
