#include "proxy/recent_requests.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace stint;
using namespace stint::proxy;
using namespace std::chrono_literals;

namespace {

constexpr WallTime begin{1h};

void note(RecentRequests& recent, const std::string& id, std::uint32_t route = 1) {
    recent.begin(id, begin, route);
}

} // namespace

TEST_CASE("a request is found with its keys and with what was decided") {
    RecentRequests recent;
    const std::uint64_t number = recent.begin("id", begin, 3);
    recent.add_key(5, {1, 2}, "key");
    note(recent, "other");
    recent.end(number, RecentRequests::Kind::refused, 5, 7s); // it had to wait first

    const auto found = recent.find("id");

    REQUIRE(found.has_value());
    CHECK(found->at == begin);
    CHECK(found->route == 3);
    CHECK(found->kind == RecentRequests::Kind::refused);
    CHECK(found->decided_by == 5);
    CHECK(found->retry_after == 7s);
    REQUIRE(found->key_count == 1);
    CHECK(found->keys[0].limit == 5);
    CHECK(found->keys[0].hash == Hash128{1, 2});
    CHECK(found->keys[0].text() == "key");
    CHECK(recent.find("other")->kind == RecentRequests::Kind::admitted);
}

TEST_CASE("of two requests of one id the later is found, an unknown one is not") {
    RecentRequests recent;
    note(recent, "id", 1);
    note(recent, "id", 2);

    CHECK(recent.find("id")->route == 2);
    CHECK_FALSE(recent.find("id2").has_value());
    CHECK_FALSE(RecentRequests{}.find("").has_value());
}

TEST_CASE("the oldest makes room for the next") {
    RecentRequests recent;
    for (std::size_t i = 0; i <= RecentRequests::capacity; ++i)
        note(recent, std::to_string(i));

    recent.end(0, RecentRequests::Kind::refused, 1, 1s); // too late to matter
    CHECK(
        recent.find(std::to_string(RecentRequests::capacity))->kind ==
        RecentRequests::Kind::admitted);
    CHECK_FALSE(recent.find("0").has_value());
    CHECK(recent.find("1").has_value());
    CHECK(recent.find(std::to_string(RecentRequests::capacity)).has_value());
}

TEST_CASE("a long key is cut, a fifth one is not kept") {
    RecentRequests recent;
    recent.begin("id", begin, 1);
    for (std::uint32_t limit = 0; limit < 5; ++limit)
        recent.add_key(limit, {}, std::string(RecentRequests::longest_text + limit, 'x'));

    const auto found = recent.find("id");

    CHECK(found->key_count == RecentRequests::most_keys);
    CHECK_FALSE(found->keys[0].cut());
    CHECK(found->keys[1].cut());
    CHECK(found->keys[1].text() == std::string(RecentRequests::longest_text, 'x'));
}
