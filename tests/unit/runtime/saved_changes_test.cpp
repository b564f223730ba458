#include "runtime/saved_changes.hpp"
#include "runtime/state_file.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace stint;
using namespace stint::runtime;
using namespace std::chrono_literals;

namespace {

using Kind = LimitChange::Kind;

const SavedClock written{"boot", {SteadyTime{10h}, WallTime{100h}}};

SavedClock later(Duration by, std::string boot = "boot") {
    const bool same = boot == "boot";
    return {std::move(boot), {same ? SteadyTime{10h} + by : SteadyTime{1min}, WallTime{100h} + by}};
}

SavedChange saved_block(std::string key, std::optional<Duration> lasts = 1h) {
    SavedChange saved;
    saved.change = {
        .target = {"l", Kind::block_key, std::move(key)},
        .numbers = {7, 8},
        .enforce = false,
        .by = {"ann", "scraping"},
        .since = WallTime{99h}};
    if (lasts)
        saved.change.expires = written.at.steady + *lasts;
    saved.identity = "identity";
    return saved;
}

// What the file has after a batch was written.
void write(const StateBatch& batch, std::vector<state::Row>& file) {
    for (const state::Change& each : batch.changes) {
        CHECK(each.table == StateFile::operators);
        std::erase_if(file, [&](const state::Row& row) { return row.key == each.key; });
        if (each.value)
            file.push_back({each.key, *each.value});
    }
}

} // namespace

TEST_CASE("a change is read as it was written") {
    const SavedChange saved = saved_block("k");

    const auto read = change_in(row_of(saved, written), later(10min));

    REQUIRE(read);
    CHECK(read->change.target == saved.change.target);
    CHECK(read->change.numbers == saved.change.numbers);
    CHECK(read->change.enforce == saved.change.enforce);
    CHECK(read->change.by == saved.change.by);
    CHECK(read->change.since == saved.change.since);
    CHECK(read->change.expires == saved.change.expires);
    CHECK(read->identity == "identity");
}

TEST_CASE("a change ends when it would have, also over a reboot") {
    const state::Row row = row_of(saved_block("k"), written);
    CHECK_FALSE(change_in(row, later(1h)));
    CHECK(change_in(row, later(1h - 1ns)));

    const auto rebooted = change_in(row, later(10min, "other"));
    REQUIRE(rebooted);
    CHECK(rebooted->change.expires == SteadyTime{1min} + 50min);
    CHECK_FALSE(change_in(row, later(1h, "other")));
    // A wall clock that was set back: no time has passed.
    CHECK(change_in(row, later(-2h, "other"))->change.expires == SteadyTime{1min} + 1h);

    CHECK(change_in(row_of(saved_block("k", {}), written), later(9'000h)));
}

TEST_CASE("a row that is cut is no change") {
    const state::Row row = row_of(saved_block("k"), written);
    for (std::size_t size = 0; size < row.value.size(); ++size)
        CHECK_FALSE(change_in({row.key, row.value.substr(0, size)}, written));
    for (std::size_t size = 0; size < row.key.size(); ++size)
        CHECK_FALSE(change_in({row.key.substr(0, size), row.value}, written));
}

TEST_CASE("the file gets what is new, and loses what has ended") {
    std::vector<state::Row> file;
    ChangeWriter writer;
    CHECK(writer.restore(file, written).empty());
    writer.set({saved_block("a"), saved_block("b")});
    {
        StateBatch batch;
        writer.add_to(batch, written);
        writer.settle(false); // the disk is full
    }
    {
        StateBatch batch;
        writer.add_to(batch, written);
        write(batch, file);
        writer.settle(true);
    }
    CHECK(file.size() == 2);
    {
        StateBatch batch;
        writer.add_to(batch, written);
        CHECK(batch.changes.empty());
    }
    writer.set({saved_block("b")});
    StateBatch batch;
    writer.add_to(batch, written);
    write(batch, file);
    writer.settle(true);

    ChangeWriter next;
    const auto restored = next.restore(file, later(1min));
    REQUIRE(restored.size() == 1);
    CHECK(restored[0].change.target.key == "b");
}

TEST_CASE("changes that come while others are written are written next") {
    ChangeWriter writer;
    writer.set({saved_block("a")});
    StateBatch first;
    writer.add_to(first, written);
    writer.set({saved_block("b")});
    writer.settle(true);

    StateBatch second;
    writer.add_to(second, written);
    CHECK(second.changes.size() == 2); // b comes, a goes
}

TEST_CASE("one change is one row of the file, however many there are") {
    std::vector<SavedChange> many;
    for (std::size_t i = 0; i + 1 < LimitChanges::most; ++i)
        many.push_back(saved_block(std::to_string(i)));
    ChangeWriter writer;
    writer.set(many);
    StateBatch all;
    writer.add_to(all, written);
    writer.settle(true);
    REQUIRE(all.changes.size() == many.size());

    writer.put(saved_block("one more"), "");
    writer.erase(many.front().change.target, "");
    StateBatch batch;
    writer.add_to(batch, written);
    writer.settle(true);

    REQUIRE(batch.changes.size() == 2);
    for (const state::Change& each : batch.changes)
        CHECK(each.key == row_of(each.value ? saved_block("one more") : many.front(), written).key);
    StateBatch nothing;
    writer.add_to(nothing, written);
    CHECK(nothing.changes.empty());
}

TEST_CASE("a change that is ended before it is written has no row") {
    ChangeWriter writer;
    writer.set({});
    writer.put(saved_block("a"), "");
    writer.erase(saved_block("a").change.target, "");
    StateBatch batch;
    writer.add_to(batch, written);
    CHECK(batch.changes.empty());
}

TEST_CASE("rows of the last run stay until it is known which changes go on") {
    ChangeWriter writer;
    (void)writer.restore({row_of(saved_block("a"), written)}, written);
    StateBatch early;
    writer.add_to(early, written);
    CHECK(early.changes.empty());

    writer.set({});
    StateBatch batch;
    writer.add_to(batch, written);
    CHECK(batch.changes.size() == 1);
}

TEST_CASE("what could not be written is told once, and until it is written") {
    ChangeWriter writer;
    writer.set({});
    const auto attempt = [&](bool done, const char* why = "") {
        const std::uint64_t version = writer.version();
        StateBatch batch;
        writer.add_to(batch, written);
        writer.settle(done);
        return writer.end_attempt(version, why);
    };
    CHECK(attempt(true).empty());
    CHECK_FALSE(writer.unwritten().any);
    writer.put(saved_block("a"), "a is lost");
    const std::uint64_t version = writer.version();
    CHECK_FALSE(writer.is_settled(version));
    CHECK(writer.unwritten().any);
    CHECK(writer.unwritten().why.empty());

    CHECK(attempt(false, "full") == std::vector<std::string>{"a is lost"});
    CHECK(writer.is_settled(version));
    CHECK(writer.unwritten().any);
    CHECK(writer.unwritten().why == "full");
    CHECK(attempt(false, "full").empty());

    CHECK(attempt(true).empty());
    CHECK_FALSE(writer.unwritten().any);
    writer.erase(saved_block("a").change.target, "a comes back");
    CHECK(attempt(false, "full") == std::vector<std::string>{"a comes back"});
    CHECK(attempt(true).empty());

    // What was never written is not lost.
    writer.put(saved_block("b"), "b is lost");
    writer.erase(saved_block("b").change.target, "b comes back");
    CHECK_FALSE(writer.unwritten().any);
    CHECK(attempt(false, "full").empty());
}

TEST_CASE("an attempt that began before a change does not settle it") {
    ChangeWriter writer;
    writer.set({});
    StateBatch batch;
    writer.add_to(batch, written);
    const std::uint64_t begun = writer.version();
    writer.put(saved_block("a"), "a is lost");

    CHECK(writer.end_attempt(begun, "full").empty());
    CHECK_FALSE(writer.is_settled(writer.version()));
}

TEST_CASE("a file that was reopened gets all changes again") {
    std::vector<state::Row> file;
    ChangeWriter writer;
    writer.set({saved_block("a")});
    StateBatch batch;
    writer.add_to(batch, written);
    writer.settle(true);

    file.push_back(row_of(saved_block("old"), written));
    writer.begin_anew(file);
    StateBatch again;
    writer.add_to(again, written);
    write(again, file);
    writer.settle(true);

    REQUIRE(file.size() == 1);
    CHECK(change_in(file[0], written)->change.target.key == "a");
}

TEST_CASE("what was to go into the former file is not taken for what is in the new one") {
    ChangeWriter writer;
    writer.set({});
    StateBatch nothing;
    writer.add_to(nothing, written);

    writer.begin_anew({row_of(saved_block("old"), written)});
    writer.settle(true); // a transaction of others
    StateBatch batch;
    writer.add_to(batch, written);

    CHECK(batch.changes.size() == 1); // erases it
}
