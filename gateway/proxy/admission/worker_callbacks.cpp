#include "proxy/admission/worker_callbacks.hpp"

#include "http/local_reply.hpp"
#include "limits/limit.hpp"

#include <spdlog/spdlog.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace stint::proxy {

Duration note_refusal(
    Context& context,
    const ActiveConfig& config,
    routing::AppliedLimit limit,
    Hash128 key,
    Duration retry_after) {
    ++context.counters.refusals[limit.on_route->refusal_metric];
    if (limits::HeavyHitters* const keys = config.heavy_hitters_of(limit))
        keys->refuse(key);
    const Duration jitter = limit->answer.jitter;
    return jitter > Duration::zero()
               ? http::with_jitter(retry_after, jitter, context.request_ids.next())
               : retry_after;
}

void note_dry_run(
    Context& context,
    const ActiveConfig& config,
    const routing::Charges& charges,
    const limits::Decision& decision) noexcept {
    for (std::uint32_t left = decision.would_refuse; left != 0; left &= left - 1) {
        const auto at = static_cast<std::size_t>(std::countr_zero(left));
        routing::AppliedLimit limit = charges.limits[at];
        ++context.counters.dry_runs[limit.on_route->refusal_metric].would_refuse;
        if (limits::HeavyHitters* const keys = config.heavy_hitters_of(limit))
            keys->count_would_refuse(charges.charges[at].key);
    }
}

void warn_table_full(routing::AppliedLimit limit) {
    spdlog::warn(
        "the table of the limit {} is full: new keys are counted together, and may be refused "
        "early; consider a larger max_keys",
        limit->limit->identity().name);
}

void WorkerCallbacks::begin(const routing::Route& route, const Now& now) {
    now_ = now.steady;
    recent_ = context_.recent.begin(request_id_, arrival_, route.metric);
}

void WorkerCallbacks::counts(routing::AppliedLimit limit, const routing::Key& key) noexcept {
    config_.heavy_hitters_of(limit.on_route->index).add(key.hash, key.text, now_);
    context_.recent.add_key(limit.on_route->refusal_metric, key.hash, key.text);
}

void WorkerCallbacks::exempt(routing::AppliedLimit limit) noexcept {
    ++context_.counters.exempted[limit.on_route->refusal_metric];
}

void WorkerCallbacks::refused(
    routing::AppliedLimit limit, Hash128 key, Duration retry_after) noexcept {
    ++context_.counters.refusals[limit.on_route->refusal_metric];
    if (!limit->key.empty())
        config_.heavy_hitters_of(limit.on_route->index).refuse(key);
    record(RecentRequests::Kind::refused, limit.on_route->refusal_metric, retry_after);
}

void WorkerCallbacks::denied(routing::AppliedLimit limit) noexcept {
    ++context_.counters.denied[limit.on_route->refusal_metric];
    record(RecentRequests::Kind::denied, limit.on_route->refusal_metric, {});
}

void WorkerCallbacks::fence_rejected(const routing::Route& route) noexcept {
    ++context_.counters.fenced_off[route.fence_metric];
    if (!recent_)
        recent_ = context_.recent.begin(request_id_, arrival_, route.metric);
    record(RecentRequests::Kind::denied, route.fence_metric, {});
}

void WorkerCallbacks::record(
    RecentRequests::Kind kind, std::uint32_t decided_by, Duration retry_after) noexcept {
    context_.recent.end(*recent_, kind, decided_by, retry_after);
}

void WorkerCallbacks::would_refuse(routing::AppliedLimit limit, Hash128 key) noexcept {
    ++context_.counters.dry_runs[limit.on_route->refusal_metric].would_refuse;
    if (!limit->key.empty())
        config_.heavy_hitters_of(limit.on_route->index).count_would_refuse(key);
}

void WorkerCallbacks::would_wait(routing::AppliedLimit limit) noexcept {
    ++context_.counters.dry_runs[limit.on_route->refusal_metric].would_wait;
}

void WorkerCallbacks::table_full(routing::AppliedLimit limit) noexcept {
    warn_table_full(limit);
}

void WorkerCallbacks::cost_exceeded(routing::AppliedLimit limit) noexcept {
    ++context_.counters.overruns[limit.on_route->refusal_metric];
}

void WorkerCallbacks::waited(routing::AppliedLimit limit, bool admitted, Duration waited) noexcept {
    observe::WaitCounters& counters = context_.counters.waits[limit->wait->metric];
    if (admitted)
        counters.time.observe(waited);
    else
        ++counters.refused;
}

Duration WorkerCallbacks::with_jitter(Duration retry_after, Duration most) noexcept {
    return http::with_jitter(retry_after, most, context_.request_ids.next());
}

admission::QueuedCharges& WorkerCallbacks::make_queued() {
    queued_ = std::make_unique<QueuedRequest>(context_.wakeups, waits_, waiting_since_);
    return *queued_;
}

} // namespace stint::proxy
