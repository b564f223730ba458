#include "server/loop.hpp"

#include "http/response_writer.hpp"
#include "net/clock.hpp"
#include "server/http1_connection.hpp"

#include <algorithm>
#include <utility>

namespace stint::server {

Loop::Loop(
    net::Executor loop_executor,
    Totals& all_loops,
    observe::WorkerCounters& loop_counters,
    std::size_t largest_head,
    std::size_t most_fields)
    : executor{std::move(loop_executor)}, totals{all_loops}, counters{loop_counters},
      parser{largest_head, most_fields} {}

Loop::~Loop() = default;

net::BufferPool& Loop::head_blocks(std::size_t max_head) {
    const std::size_t size = max_head + room_behind_head;
    const auto known =
        std::ranges::find(head_pools_, size, [](const auto& pool) { return pool->block_size(); });
    if (known != head_pools_.end())
        return **known;
    return *head_pools_.emplace_back(std::make_unique<net::BufferPool>(size, blocks_kept));
}

bool Loop::shed_lingering() noexcept {
    if (lingering.empty())
        return false;
    lingering.front().shed();
    ++counters.shed_clients;
    return true;
}

std::size_t Loop::shed_connections(std::size_t most) noexcept {
    std::size_t closed = 0;
    while (closed < most && shed_lingering())
        ++closed;
    for (; closed < most && !parked.empty(); ++closed) {
        parked.front().shed();
        ++counters.shed_clients;
    }
    return closed;
}

void Loop::drain_connections(bool over) noexcept {
    for (auto next = connections.begin(); next != connections.end();) {
        Http1Connection& connection = *next++;
        if (over)
            connection.abort();
        else
            connection.drain();
    }
}

void Loop::trim() noexcept {
    for (const auto& pool : head_pools_)
        pool->trim();
    body_blocks.trim();
}

std::string_view write_refusal(Loop& loop, int status, std::string_view detail) {
    http::make_turned_away(loop.response, status, detail);
    loop.head_out.clear();
    http::write_response(
        loop.head_out, loop.response,
        {.date = loop.dates.format(net::read_clocks().wall), .keep_alive = false});
    return loop.head_out.view();
}

} // namespace stint::server
