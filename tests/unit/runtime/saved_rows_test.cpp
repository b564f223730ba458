#include "runtime/saved_rows.hpp"

#include <doctest/doctest.h>

#include <set>

namespace {

using namespace stint;
using namespace stint::runtime;
using namespace std::chrono_literals;

SavedClock clock(const char* boot, Duration steady, Duration wall) {
    return {boot, {SteadyTime{steady}, WallTime{wall}}};
}

} // namespace

TEST_CASE("within one boot the steady clock goes on") {
    CHECK(clock("a", 10s, 100s).shift_to(clock("a", 15s, 900s)) == 0s);
}

TEST_CASE("after another boot as much time has passed as the wall clock says") {
    // 7 s later; what was due at 12 on the old clock is due in -5 s: at -2 on the new one.
    CHECK(clock("a", 10s, 100s).shift_to(clock("b", 3s, 107s)) == -14s);
}

TEST_CASE("a wall clock that was set back makes nothing last longer") {
    const SavedClock saved = clock("a", 10s, 100s);
    const SavedClock now = clock("b", 3s, 20s);

    CHECK(SteadyTime{12s} + saved.shift_to(now) == now.at.steady + 2s);
}

TEST_CASE("a steady clock that went back is another one, and so is that of no boot") {
    CHECK(clock("a", 10s, 100s).shift_to(clock("a", 3s, 107s)) == -14s);
    CHECK(clock("", 10s, 100s).shift_to(clock("", 12s, 107s)) == -5s);
}

TEST_CASE("a page is over when what it says is") {
    KeptPage page{0, clock("a", 10s, 100s), SteadyTime{12s}, {}};

    CHECK_FALSE(page.over(clock("a", 12s - 1ns, 0s)));
    CHECK(page.over(clock("a", 12s, 0s)));
    CHECK_FALSE(page.over(clock("b", 1s, 101s)));
    CHECK(page.over(clock("b", 1s, 102s)));
}

TEST_CASE("a row says what was written") {
    const limits::SavedPage page{77, std::string("a\0b", 3), SteadyTime{12s}};
    const SavedClock now = clock("boot", 10s, 100s);

    const auto row = read_row(row_key("limit", 77), row_value(page, now));

    REQUIRE(row);
    CHECK(row->limit == "limit");
    CHECK(row->page.page == 77);
    CHECK(row->page.bytes == page.bytes);
    CHECK(row->page.until == page.until);
    CHECK(row->page.written.boot == "boot");
    CHECK(row->page.written.at.steady == now.at.steady);
    CHECK(row->page.written.at.wall == now.at.wall);
}

TEST_CASE("what is no row is none") {
    CHECK_FALSE(read_row("", ""));
    CHECK_FALSE(read_row("limit", ""));
    CHECK_FALSE(read_row(row_key("limit", 1), "short"));
    CHECK_FALSE(read_row(row_key("limit", 1), std::string(12, '\xFF')));
}

TEST_CASE("each part of an identity makes another key, wherever one part ends") {
    limits::LimitIdentity identity{.name = "ab", .key = "c", .per = 1s};
    std::set<std::string> keys{key_of(identity)};
    const auto other = [&](auto change) {
        limits::LimitIdentity changed = identity;
        change(changed);
        CHECK(keys.insert(key_of(changed)).second);
    };
    other([](auto& i) { i.name.pop_back(), i.key = "bc"; });
    other([](auto& i) { i.name = std::string("ab\0c", 4); });
    other([](auto& i) { i.key = ""; });
    other([](auto& i) { i.algorithm = limits::Algorithm::sliding_window; });
    other([](auto& i) { i.anchor = limits::Anchor::clock; });
    other([](auto& i) { i.per = 2s; });
    other([](auto& i) { i.time_zone = "UTC"; });
    other([](auto& i) { i.unit = CalendarUnit::week; });
    CHECK(key_of(identity) == *keys.find(key_of(identity)));
}

TEST_CASE("the boot of this machine is known") {
    CHECK(SavedClock::read().boot.size() == 36);
}
