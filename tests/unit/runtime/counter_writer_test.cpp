// Which rows of counters a round erases, and when.
#include "net/clock.hpp"
#include "runtime/counter_writer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <string>
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

limits::LimitSpec spec_for(std::uint64_t max_keys) {
    limits::LimitSpec sized = spec;
    sized.max_keys = max_keys;
    return sized;
}

// Adds a round to the batch, as if it was written.
void add_round(CounterWriter& writer, StateBatch& batch) {
    CHECK(writer.add_changes(false, SavedClock::read(), batch, [] { return true; }));
    batch.taken.clear();
    writer.settle_written();
}

// The rows of a limit that has counted one request of each key.
std::vector<state::Row> rows_of(const std::vector<Hash128>& keys, std::uint64_t max_keys = 100) {
    limits::Registry registry;
    CounterWriter writer{registry};
    const limits::LimitPtr limit = registry.obtain(spec_for(max_keys));
    for (const Hash128 key : keys)
        charge(limit, key);
    StateBatch batch;
    add_round(writer, batch);
    std::vector<state::Row> rows;
    for (state::Change& change : batch.changes)
        rows.push_back({std::move(change.key), change.value.value()});
    return rows;
}

std::size_t erasures_in(const std::vector<state::Change>& changes) {
    return static_cast<std::size_t>(
        std::ranges::count_if(changes, [](const state::Change& change) { return !change.value; }));
}

std::vector<Hash128> some_keys(std::uint64_t number) {
    std::vector<Hash128> keys;
    for (std::uint64_t i = 1; i <= number; ++i)
        keys.push_back({i * 0x9e3779b97f4a7c15U, i * 0xbf58476d1ce4e5b9U});
    return keys;
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
    return erasures_in(second.changes);
}

// A state file, and a process that writes to it until it is killed.
class File {
  public:
    explicit File(const std::vector<state::Row>& rows) {
        for (const state::Row& row : rows)
            rows_[row.key] = row.value;
    }
    [[nodiscard]] std::vector<state::Row> rows() const {
        std::vector<state::Row> rows;
        for (const auto& [key, value] : rows_)
            rows.push_back({key, value});
        return rows;
    }
    // Writes one round. The transaction after `most` ones fails.
    void write(CounterWriter& writer, std::size_t most) {
        StateBatch batch;
        const auto flush = [&] { return most-- > 0 ? commit(writer, batch) : fail(writer, batch); };
        if (writer.add_changes(false, SavedClock::read(), batch, flush))
            (void)flush();
    }

  private:
    static std::vector<state::Change> take_changes(CounterWriter& writer, StateBatch& batch) {
        std::vector<state::Change> changes = writer.stale_rows();
        std::ranges::move(batch.changes, std::back_inserter(changes));
        batch.changes.clear();
        batch.bytes = 0;
        return changes;
    }
    bool commit(CounterWriter& writer, StateBatch& batch) {
        for (state::Change& change : take_changes(writer, batch))
            if (change.value)
                rows_[change.key] = *change.value;
            else
                rows_.erase(change.key);
        batch.taken.clear();
        writer.settle_written();
        return true;
    }
    static bool fail(CounterWriter& writer, StateBatch& batch) {
        writer.settle_failed(take_changes(writer, batch));
        return false;
    }

    std::map<std::string, std::string> rows_;
};

// Restores a limit of `max_keys` from the file in a new process.
struct Restart {
    explicit Restart(const File& file, std::uint64_t max_keys) {
        writer.keep_unclaimed(file.rows(), SavedClock::read());
        registry.on_made([this](limits::Limit& made) { writer.claim(made); });
        limit = registry.obtain(spec_for(max_keys));
    }
    [[nodiscard]] std::size_t counted(const std::vector<Hash128>& keys) const {
        return static_cast<std::size_t>(std::ranges::count_if(keys, [&](Hash128 key) {
            const limits::Charge charge{.limit = limit.get(), .key = key, .quota = 100};
            return limit->state_of(charge, net::read_clocks()).used == 1;
        }));
    }

    limits::Registry registry;
    CounterWriter writer{registry};
    limits::LimitPtr limit;
};

} // namespace

TEST_CASE("a round that begins while a limit takes its counts erases none of them") {
    const std::vector<state::Row> rows = rows_of(some_keys(20));
    REQUIRE(rows.size() > 2);

    CHECK(erasures_after(rows, false) == 0);
    CHECK(erasures_after(rows, true) == 0);
}

TEST_CASE("rows of a reopened file stay until the memory's are written in their place") {
    std::vector<state::Row> rows = rows_of(some_keys(20));
    limits::Registry registry;
    CounterWriter writer{registry};
    const limits::LimitPtr limit = registry.obtain(spec);
    charge(limit, some_keys(1).front());
    rows.push_back({"no row of a limit", ""});

    writer.begin_anew(rows);

    CHECK(writer.stale_rows().size() == 1); // what no limit can use goes at once
    StateBatch batch;
    add_round(writer, batch);
    CHECK(batch.changes.front().value); // before any row goes
    CHECK(batch.changes.size() == rows.size() - 1);
    CHECK(erasures_in(batch.changes) == rows.size() - 2);
}

TEST_CASE(
    "rows of a reopened file stay for limits that are not made yet, and go with those that end") {
    const std::vector<state::Row> rows = rows_of(some_keys(20));
    limits::Registry registry;
    CounterWriter writer{registry};
    registry.on_made([&](limits::Limit& limit) { writer.claim(limit); });
    writer.begin_anew(rows);
    writer.keep_unclaimed(rows, SavedClock::read());

    StateBatch before;
    add_round(writer, before);
    CHECK(before.changes.empty());
    limits::LimitPtr limit = registry.obtain(spec);
    StateBatch made;
    add_round(writer, made);
    CHECK(made.changes.size() == rows.size());
    CHECK(erasures_in(made.changes) == 0);
    limit.reset();
    StateBatch ended;
    add_round(writer, ended);
    CHECK(erasures_in(ended.changes) == rows.size());
}

TEST_CASE("a kill while more shards than before are written loses no count") {
    constexpr std::uint64_t small = 100'000;
    constexpr std::uint64_t large = 2'000'000;
    const std::vector<Hash128> keys = some_keys(100'000);
    File file{rows_of(keys, small)};
    Restart grown{file, large};
    REQUIRE(grown.counted(keys) == keys.size());

    SUBCASE("in the first round") {
        file.write(grown.writer, 1);
    }
    SUBCASE("in the round after one that failed") {
        file.write(grown.writer, 0);
        file.write(grown.writer, 1);
    }

    CHECK(Restart{file, large}.counted(keys) == keys.size());
    file.write(grown.writer, 100);
    CHECK(Restart{file, small}.counted(keys) == keys.size());
}

TEST_CASE("a kill while a file that was reopened is written loses no count") {
    const std::vector<Hash128> keys = some_keys(100'000);
    File file{rows_of(keys, 100'000)};
    Restart grown{file, 2'000'000};
    grown.writer.begin_anew(file.rows());

    file.write(grown.writer, 1);

    CHECK(Restart{file, 2'000'000}.counted(keys) == keys.size());
}
