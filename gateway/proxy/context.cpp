#include "proxy/context.hpp"

#include "proxy/downstream.hpp"
#include "proxy/exchange.hpp"

#include <algorithm>
#include <utility>

namespace stint::proxy {
namespace {

constexpr std::size_t largest_head = 64 * 1024; // what max_head may be set to
constexpr std::size_t head_blocks_kept = 256;

} // namespace

Context::Context(
    net::Executor worker_executor, Shared& shared_state, observe::AccessLog::Channel log_channel)
    : executor{std::move(worker_executor)}, shared{shared_state},
      access_log{std::move(log_channel)}, turns{shared.waiting_room, executor}, parser{
                                                                                    largest_head} {}

Context::~Context() = default;

void Context::adopt(routing::SnapshotPtr snapshot) {
    const std::size_t size = snapshot->max_head + room_behind_head;
    const auto known =
        std::ranges::find(head_pools, size, [](const auto& pool) { return pool->block_size(); });
    if (known == head_pools.end())
        head_pools.push_back(std::make_unique<net::BufferPool>(size, head_blocks_kept));
    else
        std::rotate(known, known + 1, head_pools.end());
    std::vector<upstream::Cluster> clusters = pools.adopt(*snapshot);
    active = std::make_shared<ActiveConfig>(std::move(snapshot), std::move(clusters));
}

void Context::tick(SteadyTime now) {
    deadlines.expire(now);
    turns.tell();
    for (auto next = watched.begin(); next != watched.end();)
        (next++)->look_for_end();
}

} // namespace stint::proxy
