#include "proxy/context.hpp"

#include "http/response_writer.hpp"
#include "net/clock.hpp"
#include "proxy/downstream/downstream.hpp"
#include "proxy/exchange.hpp"

#include <algorithm>
#include <utility>

namespace stint::proxy {
namespace {

constexpr std::size_t largest_head = 64 * 1024; // upper bound of max_head
constexpr std::size_t most_fields = 1000;       // upper bound of max_fields
// Bounded so that a short spike does not close every idle connection.
constexpr std::size_t room_made_at_once = 32;

std::vector<std::shared_ptr<limits::HeavyHitters>>
heavy_hitters_of(const routing::Snapshot& snapshot, const ActiveConfig* former) {
    std::vector<std::shared_ptr<limits::HeavyHitters>> all;
    for (const limits::LimitPtr& limit : snapshot.limits) {
        std::shared_ptr<limits::HeavyHitters> kept;
        for (std::size_t i = 0; former != nullptr && i < former->snapshot->limits.size(); ++i)
            if (former->snapshot->limits[i] == limit)
                kept = former->heavy_hitters[i];
        if (kept == nullptr && limit->keyed())
            kept = std::make_shared<limits::HeavyHitters>();
        all.push_back(std::move(kept));
    }
    return all;
}

} // namespace

Context::Context(
    net::Executor worker_executor, Shared& shared_state, observe::AccessLog::Channel log_channel)
    : executor{std::move(worker_executor)}, shared{shared_state}, access_log{std::move(
                                                                      log_channel)},
      wakeups{shared.admission_queue, executor}, parser{largest_head, most_fields} {}

Context::~Context() = default;

void Context::adopt(routing::SnapshotPtr snapshot) {
    const std::size_t size = snapshot->max_head + room_behind_head;
    const auto known =
        std::ranges::find(head_pools, size, [](const auto& pool) { return pool->block_size(); });
    if (known == head_pools.end())
        head_pools.push_back(std::make_unique<net::BufferPool>(size, blocks_kept));
    else
        std::rotate(known, known + 1, head_pools.end());
    parser.limit_response_fields(snapshot->max_fields);
    auto heavy_hitters = heavy_hitters_of(*snapshot, active.get());
    std::vector<upstream::Cluster> clusters = pools.adopt(*snapshot);
    active = std::make_shared<ActiveConfig>(
        std::move(snapshot), std::move(clusters), std::move(heavy_hitters));
}

void Context::sweep(SteadyTime now) {
    if (active)
        pools.sweep(now, active->snapshot->timeouts.idle);
    for (const auto& pool : head_pools)
        pool->trim();
    body_blocks.trim();
    splice_pipes.trim();
}

std::size_t Context::close_idle_connections() noexcept {
    splice_pipes.close_kept();
    std::size_t closed = 0;
    while (closed < room_made_at_once && shed_lingering())
        ++closed;
    for (; closed < room_made_at_once && !parked.empty(); ++closed) {
        parked.front().shed();
        ++counters.shed_clients;
    }
    const std::size_t more = pools.close_oldest(room_made_at_once - closed);
    counters.shed_upstreams += more;
    return closed + more;
}

bool Context::shed_lingering() noexcept {
    if (lingering.empty())
        return false;
    lingering.front().shed();
    ++counters.shed_clients;
    return true;
}

void Context::tick(SteadyTime now) {
    if (const std::uint64_t count = shared.resource_exhaustion.count(); count != shortages_seen_) {
        shortages_seen_ = count;
        close_idle_connections();
    }
    deadlines.expire(now);
    wakeups.resume_decided();
    for (auto next = watched.begin(); next != watched.end();)
        (next++)->poll_peer_close();
    while (!guarded.empty()) {
        auto* const ended = static_cast<Downstream*>(ends.next());
        if (ended == nullptr)
            break;
        if (ended->Watched::is_linked())
            ended->poll_peer_close();
    }
}

std::string_view write_refusal(Context& context, int status, std::string_view detail) {
    http::make_turned_away(context.response, status, detail);
    context.head_out.clear();
    http::write_response(
        context.head_out, context.response,
        {.date = context.dates.format(net::read_clocks().wall), .keep_alive = false});
    return context.head_out.view();
}

} // namespace stint::proxy
