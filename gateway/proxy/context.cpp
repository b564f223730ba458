#include "proxy/context.hpp"

#include "proxy/downstream.hpp"
#include "proxy/exchange.hpp"

#include <utility>

namespace stint::proxy {
namespace {

constexpr std::size_t largest_head = 64 * 1024; // what max_head may be set to
constexpr std::size_t head_blocks_kept = 256;

} // namespace

Context::Context(
    net::Executor worker_executor, Shared& shared_state, observe::AccessLog::Channel log_channel)
    : executor{std::move(worker_executor)}, shared{shared_state},
      access_log{std::move(log_channel)}, parser{largest_head} {}

Context::~Context() = default;

void Context::adopt(routing::SnapshotPtr snapshot) {
    if (head_pools.empty() || head_pools.back()->block_size() != snapshot->max_head)
        head_pools.push_back(
            std::make_unique<net::BufferPool>(snapshot->max_head, head_blocks_kept));
    std::vector<upstream::Cluster> clusters = pools.adopt(*snapshot);
    active = std::make_shared<ActiveConfig>(std::move(snapshot), std::move(clusters));
}

} // namespace stint::proxy
