#include "shared/session.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace stint;
using namespace stint::shared;
using namespace std::chrono_literals;

namespace {

constexpr SteadyTime start{1h};

Session active_session(std::int64_t time, std::int64_t base) {
    Session session{{.gateway = "gw", .session = "s", .time_to_live = 30s, .timeout = 1s}};
    const Reply reply{
        std::string{"ok"}, time, std::string{"1-1"}, std::string{"a"}, std::int64_t{1},
        std::int64_t{1},   base, std::string{"s:gw"}};
    (void)session.beat(true, {start, WallTime{}});
    (void)session.answered(reply, start, start);
    return session;
}

// How long ago the base was, as the store reckons it.
std::int64_t age_of_base(const Session& session, SteadyTime now) {
    const auto arguments = session.arguments("sync", now);
    return std::stoll(arguments[4]) + std::stoll(arguments[5]) - std::stoll(arguments[6]);
}

} // namespace

TEST_CASE("what a session knows grows no older when the store's clock jumps") {
    Session session = active_session(100'000, 96'000);
    CHECK(age_of_base(session, start) == 4000);
    CHECK(age_of_base(session, start + 10s) == 13'000); // nine tenths of the time that has passed
    session.note_time({std::string{"epoch"}, std::int64_t{500'000}}, start + 10s, start + 10s);
    CHECK(age_of_base(session, start + 10s) == 13'000);
}

TEST_CASE("a session comes into no epoch by a beat that it made before its latest answer came") {
    Session session = active_session(100'000, 96'000);
    const auto answer = [](const char* epoch) {
        return Reply{std::string{"ok"},    std::int64_t{101'000}, std::string{epoch},
                     std::string{"a"},     std::int64_t{1},       std::int64_t{1},
                     std::int64_t{97'000}, std::string{"s:gw"}};
    };
    (void)session.beat(true, {start + 1s, WallTime{}});
    (void)session.beat(true, {start + 2s, WallTime{}});
    (void)session.beat(true, {start + 3s, WallTime{}});
    CHECK_FALSE(session.answered(answer("1-1"), start + 1s, start + 2500ms).new_epoch);
    const SteadyTime ends_at = session.ends_at();

    CHECK_FALSE(session.answered(answer("2-2"), start + 2s, start + 3200ms).new_epoch);
    CHECK(session.epoch() == "1-1");
    CHECK(session.ends_at() == ends_at);
    CHECK(session.next_beat() < start + 3500ms); // soon

    CHECK(session.answered(answer("2-2"), start + 3s, start + 3300ms).new_epoch);
    CHECK(session.epoch() == "2-2");
}

TEST_CASE("an operator's word that nothing is held elsewhere is a base before all times") {
    const Session session = active_session(100'000, 0);
    CHECK(session.arguments("sync", start + 10s)[6] == "0");
}
