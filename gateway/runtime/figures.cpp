// The part of class Gateway that collects the metrics of the process, limits, locks and endpoints
// for a scrape.
#include "base/version.hpp"
#include "limits/counter/tally.hpp"
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

std::vector<observe::ProcessFigures::EndpointFigures>
endpoints_of(const routing::Snapshot& snapshot, SteadyTime at) {
    std::vector<observe::ProcessFigures::EndpointFigures> figures;
    for (const routing::UpstreamSpec& upstream : *snapshot.upstreams)
        for (const routing::EndpointSpec& endpoint : upstream.endpoints) {
            const upstream::EndpointState& state = *endpoint.state;
            figures.push_back(
                {.upstream = upstream.name,
                 .endpoint = endpoint.text,
                 .metric = upstream.metric,
                 .up = state.up(at),
                 .in_flight = state.in_flight(),
                 .ejections = state.ejections(),
                 .failures = state.failures(),
                 .checks_passed = state.checks_passed(),
                 .checks_failed = state.checks_failed()});
        }
    return figures;
}

} // namespace

namespace {

std::vector<observe::ProcessFigures::StoreFigures> stores_in(const SharedStores& stores) {
    std::vector<observe::ProcessFigures::StoreFigures> figures;
    for (const stores::StorePtr& store : stores) {
        const stores::StoreState state = store->state();
        const stores::StoreCounters& counters = store->counters();
        figures.push_back(
            {.name = store->settings().name,
             .up = state.up,
             .ready = state.asking,
             .counters = state.counters,
             .round_trip_seconds = std::chrono::duration<double>(state.round_trip).count(),
             .calls = counters.calls.load(),
             .failed_calls = counters.failed_calls.load(),
             .wants_told = counters.told.load(),
             .wants_failed = counters.failed.load(),
             .learnt_pauses = counters.learnt_pauses.load()});
    }
    return figures;
}

} // namespace

observe::ProcessFigures Gateway::collect_metrics() const {
    observe::ProcessFigures figures;
    figures.version = version;
    figures.config_generation = store_.generation();
    figures.config_reloads = reloads_.applied();
    figures.config_reload_failures = reloads_.failed();
    figures.last_reload_applied = reloads_.last().report.applied;
    figures.unwatched_folders = watch_.unwatched_folders();
    figures.start_time_seconds =
        std::chrono::duration<double>(started_at_.time_since_epoch()).count();
    figures.workers = pool_.size();
    figures.certificate_reloads = certificates_.reloads();
    figures.certificate_reload_failures = certificates_.failures();
    for (const auto& [certificate, at] : store_.in_force()->tls.expiries())
        figures.certificates.push_back(
            {certificate, std::chrono::duration<double>(at.time_since_epoch()).count()});
    figures.permits = config().permits.has_value();
    figures.dynamic_limits = pool_.dynamic_limits();
    figures.access_log_written = access_log_.written();
    figures.access_log_dropped = access_log_.dropped();
    const proxy::RequestsInFlight& in_flight = pool_.in_flight();
    figures.in_flight = {
        .max = config().load.max_requests_in_flight,
        .counted = in_flight.now(),
        .refused = in_flight.refused()};
    const Now now = net::read_clocks();
    for (const ConfiguredLimit& each : compiled().limits) {
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
             .overflow = each.limit->tally().overflowed(),
             .table_full = each.limit->tally().table_full(),
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
    for (const limits::CooldownSetPtr& each : compiled().cooldowns) {
        const limits::CooldownSet::Totals totals = each->totals(now.steady);
        figures.cooldowns.push_back(
            {each->identity().owner, each->identity().scope, totals.closed, totals.pauses,
             totals.refused, totals.waiting});
    }
    figures.endpoints = endpoints_of(*compiled().snapshot, now.steady);
    if (const auto state = persistence_ ? persistence_->collect_metrics() : std::nullopt)
        figures.state = {
            state->writes, state->write_failures, state->last_write_seconds, state->round_seconds};
    figures.stores = stores_in(store_.in_force()->stores);
    return figures;
}

} // namespace stint::runtime
