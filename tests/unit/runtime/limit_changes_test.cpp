#include "runtime/limit_changes.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace stint;
using namespace stint::runtime;
using namespace std::chrono_literals;

namespace {

using Kind = LimitChange::Kind;

constexpr SteadyTime begin{1h};

LimitChange override_of(std::string limit, std::string key, std::uint64_t quota) {
    return {.target = {std::move(limit), Kind::numbers, std::move(key)}, .numbers = {quota, 0}};
}

LimitChange lasting(Duration length, std::string key) {
    LimitChange change = override_of("l", std::move(key), 1);
    change.expires = begin + length;
    return change;
}

config::Limit limit_named_l() {
    config::Limit limit;
    limit.name = "l";
    limit.quota = 10;
    limit.burst = 5;
    limit.overrides = {{"a*", 20, 0}, {"b", 30, 0}};
    return limit;
}

} // namespace

TEST_CASE("a change is of its target alone and replaces the one before") {
    LimitChanges all;
    REQUIRE(all.put(override_of("l", "k", 1)));
    REQUIRE(all.put(override_of("l", "k", 2)));
    REQUIRE(all.put(override_of("l2", "k", 3)));
    REQUIRE(all.put({.target = {"l", Kind::block_key, "k"}}));

    REQUIRE(all.of("l", Kind::numbers).size() == 1);
    CHECK(all.of("l", Kind::numbers)[0].numbers.quota == 2);
    CHECK(all.of("l", Kind::block_key).size() == 1);
    CHECK(all.of("", Kind::numbers).empty());
    CHECK(all.erase({"l", Kind::numbers, "k"}));
    CHECK_FALSE(all.erase({"l", Kind::numbers, "k"}));
    CHECK(all.of("l2", Kind::numbers).size() == 1);
}

TEST_CASE("a change ends at its instant, the next end is known") {
    LimitChanges all;
    REQUIRE(all.put(override_of("l", "a", 1)));
    CHECK_FALSE(all.next_end().has_value());
    REQUIRE(all.put(lasting(2s, "b")));
    REQUIRE(all.put(lasting(1s, "c")));
    CHECK(all.next_end() == begin + 1s);

    CHECK(all.ended_by(begin + 1s - 1ns).empty());
    const auto ended = all.ended_by(begin + 1s);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].key == "c");
    CHECK(all.erase(ended[0]));
    CHECK(all.of("l", Kind::numbers).size() == 2);
    CHECK(all.next_end() == begin + 2s);
}

TEST_CASE("the next end is that of the changes that are there") {
    LimitChanges all;
    REQUIRE(all.put(lasting(3s, "a")));
    REQUIRE(all.put(lasting(2s, "b")));
    REQUIRE(all.put(lasting(5s, "b"))); // replaces the former one, whose end is gone
    CHECK(all.next_end() == begin + 3s);
    CHECK(all.find({"l", Kind::numbers, "b"})->expires == begin + 5s);
    CHECK(all.find({"l", Kind::numbers, "c"}) == nullptr);

    REQUIRE(all.put(override_of("l", "a", 2))); // lasts
    CHECK(all.next_end() == begin + 5s);
    REQUIRE(all.put(lasting(1s, "a")));
    CHECK(all.ended_by(begin + 5s).size() == 2);
    CHECK(all.ended_by(begin + 5s)[0].key == "a");

    CHECK(all.forget("l"));
    CHECK_FALSE(all.next_end().has_value());
    CHECK(all.ended_by(begin + 5s).empty());
}

TEST_CASE("there are at most as many as are kept, those that are there may be changed") {
    LimitChanges all;
    for (std::size_t i = 0; i < LimitChanges::most; ++i)
        REQUIRE(all.put(override_of("l", std::to_string(i), 1)));

    CHECK_FALSE(all.put(override_of("l", "one more", 1)));
    CHECK(all.put(override_of("l", "7", 2)));
}

TEST_CASE("the changes of a limit that has ended are forgotten") {
    LimitChanges all;
    REQUIRE(all.put(override_of("l", "k", 1)));
    REQUIRE(all.put({.target = {"l", Kind::enforce, ""}, .enforce = false}));
    REQUIRE(all.put(override_of("l2", "k", 1)));

    CHECK(all.forget("l"));
    CHECK_FALSE(all.forget("l"));
    CHECK(all.all().size() == 1);
}

TEST_CASE("changes are applied on top of a limit's settings") {
    LimitChanges all;
    CHECK(all.applied_to(limit_named_l()).quota == 10);
    REQUIRE(all.put(override_of("l", "", 100)));
    REQUIRE(all.put(override_of("l", "b", 31)));
    REQUIRE(all.put(override_of("l", "c?", 40)));
    REQUIRE(all.put({.target = {"l", Kind::block_key, "bad"}}));
    REQUIRE(all.put({.target = {"l", Kind::block_client, "192.0.2.0/24"}}));
    REQUIRE(all.put({.target = {"l", Kind::enforce, ""}, .enforce = false}));
    REQUIRE(all.put(override_of("m", "", 7)));

    const config::Limit changed = all.applied_to(limit_named_l());

    CHECK(changed.quota == 100);
    CHECK(changed.burst == 5);
    CHECK_FALSE(changed.enforce);
    CHECK(changed.deny.keys == std::vector<std::string>{"bad"});
    REQUIRE(changed.deny.networks.size() == 1);
    CHECK(changed.deny.networks[0].contains(*IpAddress::parse("192.0.2.9")));
    REQUIRE(changed.overrides.size() == 3);
    CHECK(changed.overrides[0].key == "b"); // in place of the file's
    CHECK(changed.overrides[0].quota == 31);
    CHECK(changed.overrides[1].key == "c?");
    CHECK(changed.overrides[2].key == "a*");
}

TEST_CASE("a burst goes with its quota") {
    LimitChanges all;
    LimitChange change = override_of("l", "", 100);
    change.numbers.burst = 50;
    REQUIRE(all.put(change));

    CHECK(all.applied_to(limit_named_l()).burst == 50);
}
