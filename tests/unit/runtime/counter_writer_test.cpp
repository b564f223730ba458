// A round that begins while a limit takes the counts that were kept for it.
#include "net/clock.hpp"
#include "runtime/counter_writer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace std::chrono_literals;
using runtime::CounterWriter;
using runtime::SavedClock;
using runtime::StateBatch;

const limits::LimitSpec spec{
    .identity = {.name = "a", .key = "client_ip", .per = 1h}, .quota = 100, .max_keys = 100};

void charge(const limits::LimitPtr& limit, Hash128 key) {
    const limits::Charge charge{.limit = limit.get(), .key = key, .quota = 100};
    CHECK(limits::admit({&charge, 1}, net::read_clocks()).allowed());
}

// Adds a round to the batch, as if it was written.
void add_round(CounterWriter& writer, StateBatch& batch) {
    CHECK(writer.add_changes(false, SavedClock::read(), batch, [] { return true; }));
    batch.taken.clear();
}

// The rows of a limit that has counted one request of each key.
std::vector<state::Row> rows_of(const std::vector<Hash128>& keys) {
    limits::Registry registry;
    CounterWriter writer{registry};
    const limits::LimitPtr limit = registry.obtain(spec);
    for (const Hash128 key : keys)
        charge(limit, key);
    StateBatch batch;
    add_round(writer, batch);
    std::vector<state::Row> rows;
    for (state::Change& change : batch.changes)
        rows.push_back({std::move(change.key), change.value.value()});
    return rows;
}

// The erasures of the round after the one that began in the middle of the claim.
std::size_t erasures_after(const std::vector<state::Row>& rows, bool claims_before_round) {
    limits::Registry registry;
    CounterWriter writer{registry};
    writer.keep_unclaimed(rows, SavedClock::read());
    StateBatch first;
    std::thread round;
    registry.on_made([&](limits::Limit& limit) {
        if (claims_before_round)
            writer.claim(limit);
        round = std::thread{[&] { add_round(writer, first); }};
        if (claims_before_round)
            return;
        // The round has looked for claims by then, and waits until the limit is made.
        std::this_thread::sleep_for(20ms);
        writer.claim(limit);
    });
    const limits::LimitPtr limit = registry.obtain(spec);
    round.join();
    CHECK(first.changes.size() == rows.size());
    charge(limit, {1, 1});

    StateBatch second;
    add_round(writer, second);

    CHECK(second.changes.size() > 0);
    return static_cast<std::size_t>(std::ranges::count_if(
        second.changes, [](const state::Change& change) { return !change.value; }));
}

} // namespace

TEST_CASE("a round that begins while a limit takes its counts erases none of them") {
    std::vector<Hash128> keys;
    for (std::uint64_t i = 1; i <= 20; ++i)
        keys.push_back({i * 0x9e3779b97f4a7c15U, i * 0xbf58476d1ce4e5b9U});
    const std::vector<state::Row> rows = rows_of(keys);
    REQUIRE(rows.size() > 2);

    CHECK(erasures_after(rows, false) == 0);
    CHECK(erasures_after(rows, true) == 0);
}
