#include "proxy/context.hpp"

#include "proxy/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

namespace stint::proxy {
namespace {

constexpr std::size_t largest_head = 64 * 1024; // upper bound of max_head
constexpr std::size_t most_fields = 1000;       // upper bound of max_fields
// Most idle connections closed at once for lack of descriptors. A short spike must not close all.
constexpr std::size_t room_made_at_once = 32;

std::shared_ptr<const ActiveConfig::HeavyHittersByLimit>
heavy_hitters_for(const routing::Snapshot& snapshot, const ActiveConfig* former) {
    const auto limit_of = [](const routing::LimitTermsPtr& terms) { return terms->limit.get(); };
    if (former != nullptr &&
        std::ranges::equal(snapshot.limits, former->snapshot->limits, {}, limit_of, limit_of))
        return former->heavy_hitters;
    std::unordered_map<const limits::Limit*, std::size_t> known;
    const std::size_t former_limits = former == nullptr ? 0 : former->snapshot->limits.size();
    for (std::size_t i = 0; i < former_limits; ++i)
        known.emplace(former->snapshot->limits[i]->limit.get(), i);
    ActiveConfig::HeavyHittersByLimit all;
    all.reserve(snapshot.limits.size());
    for (const routing::LimitTermsPtr& terms : snapshot.limits) {
        const auto found = known.find(terms->limit.get());
        if (found != known.end())
            all.push_back((*former->heavy_hitters)[found->second]);
        else
            all.push_back(
                terms->limit->keyed() ? std::make_shared<limits::HeavyHitters>() : nullptr);
    }
    return std::make_shared<const ActiveConfig::HeavyHittersByLimit>(std::move(all));
}

bool lets_websockets_through(const routing::Snapshot& snapshot) {
    return std::ranges::any_of(snapshot.routes.routes(), &routing::takes_websockets);
}

server::ConnectionSettings settings_of(const routing::Snapshot& snapshot, server::Loop& loop) {
    return {
        .head_timeout = snapshot.timeouts.head,
        .idle_timeout = snapshot.timeouts.idle,
        .min_head_rate = snapshot.min_head_rate,
        .max_head = snapshot.heads.max_head,
        .max_target = snapshot.heads.max_target,
        .max_fields = snapshot.heads.max_fields,
        .max_connections = snapshot.load.max_connections,
        .max_connections_per_client = snapshot.load.max_connections_per_client,
        .prefixes = snapshot.prefixes,
        .trusted = &snapshot.trusted,
        .head_blocks = &loop.head_blocks(snapshot.heads.max_head),
        .websockets = lets_websockets_through(snapshot)};
}

} // namespace

Context::Context(
    net::Executor worker_executor, Shared& shared_state, observe::AccessLog::Channel log_channel)
    : server::
          Loop{std::move(worker_executor), shared_state, own_counters_, largest_head, most_fields},
      access_log{std::move(log_channel)}, wakeups{shared_state.admission_queue, executor},
      shares{executor} {}

Context::~Context() = default;

void Context::adopt(routing::SnapshotPtr snapshot) {
    parser.limit_response_fields(snapshot->heads.max_fields);
    auto heavy_hitters = heavy_hitters_for(*snapshot, active.get());
    std::vector<upstream::OriginPtr> adopted = origins.adopt(snapshot);
    const server::ConnectionSettings settings = settings_of(*snapshot, *this);
    active = std::make_shared<ActiveConfig>(
        std::move(snapshot), std::move(adopted), std::move(heavy_hitters), settings);
}

void Context::adopt_terms(routing::SnapshotPtr snapshot) {
    const server::ConnectionSettings settings = settings_of(*snapshot, *this);
    active = std::make_shared<ActiveConfig>(
        std::move(snapshot), active->origins, active->heavy_hitters, settings);
}

void Context::sweep(SteadyTime now) {
    if (active)
        origins.pools().sweep(now, active->snapshot->timeouts.idle);
    trim();
    splice_pipes.trim();
}

std::size_t Context::close_idle_connections() noexcept {
    splice_pipes.close_kept();
    const std::size_t closed = shed_connections(room_made_at_once);
    const std::size_t more = origins.pools().close_oldest(room_made_at_once - closed);
    counters.shed_upstreams += more;
    return closed + more;
}

void Context::tick(SteadyTime now) {
    if (const std::uint64_t count = totals.resource_exhaustion.count(); count != shortages_seen_) {
        shortages_seen_ = count;
        close_idle_connections();
    }
    deadlines.expire(now);
    wakeups.resume_decided();
    shares.deliver();
    clients.poll();
}

} // namespace stint::proxy
