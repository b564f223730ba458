#include "redis/cluster_votes.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace stint;
using namespace stint::redis;
using namespace std::chrono_literals;

namespace {

constexpr SteadyTime noon{12h};

ClusterNode node(char id) {
    return {std::string{id}, {"10.0.0.1", static_cast<std::uint16_t>(6000 + id)}};
}

// Returns the word of a node that names these primaries, the first of which owns the slot.
ClusterWord word(char id, const std::string& primaries) {
    ClusterWord made{.id = std::string{id}, .owner = primaries.substr(0, 1)};
    std::string sorted = primaries;
    std::ranges::sort(sorted);
    for (const char each : sorted)
        made.primaries.push_back(node(each));
    return made;
}

// Returns who is named by these nodes, each with the primaries that it names: {"b", "abc"}.
char named(const std::vector<std::pair<char, std::string>>& words) {
    ClusterVotes votes;
    for (const auto& [id, primaries] : words)
        votes.note(node(id).address, word(id, primaries), noon);
    const auto owner = votes.owner(noon);
    return owner ? static_cast<char>(owner->port - 6000) : '-';
}

Value number_value(std::int64_t number) {
    return {.kind = Value::Kind::integer, .integer = number};
}
Value text_value(const std::string& text) {
    return {.kind = Value::Kind::bulk, .text = text};
}
Value list_of(std::vector<Value> items) {
    return {.kind = Value::Kind::array, .items = std::move(items)};
}
Value range(std::int64_t first, std::int64_t last, Value host, std::int64_t port, std::string id) {
    return list_of(
        {number_value(first), number_value(last),
         list_of({std::move(host), number_value(port), text_value(id), list_of({})}),
         list_of({text_value("10.0.0.9"), number_value(1), text_value("replica"), list_of({})})});
}

} // namespace

TEST_CASE("the slot of a key is that of its tag") {
    CHECK(slot_of("123456789") == 12739); // 0x31C3, as the specification says
    CHECK(slot_of("{user1000}.following") == slot_of("user1000"));
    CHECK(slot_of("{user1000}.following") == slot_of("{user1000}.followers"));
    CHECK(slot_of("foo{}{bar}") != slot_of("bar"));
    CHECK(slot_of("foo{{bar}}zap") == slot_of("{bar"));
    CHECK(slot_of("foo{bar}{zap}") == slot_of("bar"));
    CHECK(slot_of("a{b") != slot_of("b"));
}

TEST_CASE("the owner is what a majority of the primaries names, without its own word") {
    CHECK(named({}) == '-');
    CHECK(named({{'a', "abc"}}) == '-');
    CHECK(named({{'a', "abc"}, {'b', "abc"}}) == '-');
    CHECK(named({{'c', "abc"}, {'b', "abc"}}) == 'a');
    CHECK(named({{'b', "abcde"}, {'c', "abcde"}, {'a', "abcde"}}) == '-');
    CHECK(named({{'b', "abcde"}, {'c', "abcde"}, {'d', "abcde"}}) == 'a');
}

TEST_CASE("words of different views of the Cluster do not count together") {
    // A replaced primary, b, does not know it: its word is as the one of a node that is none.
    CHECK(named({{'b', "abc"}, {'c', "aBc"}}) == '-');
    CHECK(named({{'b', "abc"}, {'c', "aBc"}, {'B', "aBc"}}) == 'a');
    CHECK(named({{'b', "abc"}, {'c', "Abc"}, {'B', "Abc"}}) == '-'); // B is none for c
    CHECK(named({{'b', "Abc"}, {'c', "abc"}}) == '-');
    CHECK(named({{'x', "abc"}, {'y', "abc"}, {'c', "abc"}}) == '-'); // replicas
}

TEST_CASE("of two primaries the other one names the owner, and one alone itself") {
    CHECK(named({{'a', "ab"}}) == '-');
    CHECK(named({{'b', "ab"}}) == 'a');
    CHECK(named({{'a', "a"}}) == 'a');
}

TEST_CASE("an old word of a node does not count, and its latest one replaces it") {
    ClusterVotes votes;
    votes.note(node('b').address, word('b', "abc"), noon);
    votes.note(node('c').address, word('c', "abc"), noon + 1s);
    CHECK(votes.owner(noon) == node('a').address);
    CHECK_FALSE(votes.owner(noon + 1s));
    CHECK(votes.count(noon + 1s) == 3);
    CHECK(votes.answered(noon + 1s) == 1);
    // The same node at another address.
    votes.note({"10.0.0.7", 1}, word('b', "Abc"), noon + 2s);
    CHECK_FALSE(votes.owner(noon));
    votes.note(node('c').address, word('c', "Abc"), noon + 2s);
    CHECK(votes.owner(noon) == node('A').address);
    CHECK(votes.primaries(noon + 2s).size() == 3);
    votes.forget({"10.0.0.7", 1});
    CHECK_FALSE(votes.owner(noon + 1s));
}

TEST_CASE("slots are read with their owners") {
    ClusterWord word;
    const HostPort asked{"10.0.0.5", 7000};
    const Value reply = list_of(
        {range(0, 100, text_value("10.0.0.1"), 6379, "z"),
         range(101, 16'000, text_value("::1"), 6380, "a"),
         range(16'001, 16'383, text_value("10.0.0.1"), 6379, "z")});
    CHECK(read_slots(reply, 100, asked, word).empty());
    CHECK(word.owner == "z");
    CHECK(read_slots(reply, 101, asked, word).empty());
    CHECK(word.owner == "a");
    REQUIRE(word.primaries.size() == 2);
    CHECK(word.primaries[0] == ClusterNode{"a", {"::1", 6380}});
    CHECK(word.primaries[1] == ClusterNode{"z", {"10.0.0.1", 6379}});
    // A node that does not know its own address means the one that it was asked at.
    CHECK(read_slots(list_of({range(0, 16'383, {}, 6379, "z")}), 1, asked, word).empty());
    CHECK(word.primaries[0].address == HostPort{"10.0.0.5", 6379});
}

TEST_CASE("an answer without the slot's owner says so") {
    ClusterWord word;
    const HostPort asked{"10.0.0.5", 7000};
    const auto why = [&](const Value& reply) { return read_slots(reply, 7, asked, word); };
    CHECK(why(list_of({})) == "no node owns the slot");
    CHECK(why(list_of({range(0, 6, text_value("a"), 1, "z")})) == "no node owns the slot");
    CHECK(
        why(
            {.kind = Value::Kind::error,
             .text = "ERR This instance has cluster support disabled"}) ==
        "ERR This instance has cluster support disabled");
    CHECK(why(number_value(1)) == "its answer has no slots");
    CHECK(why(list_of({number_value(1)})) == "its answer has no slots");
    CHECK(
        why(list_of({range(0, 9, text_value("?"), 1, "z")})) ==
        "it does not tell the address of a primary");
    CHECK(
        why(list_of({range(0, 9, text_value("a"), 0, "z")})) ==
        "it does not tell the address of a primary");
    CHECK(
        why(list_of({range(0, 9, text_value("a"), 65'536, "z")})) ==
        "it does not tell the address of a primary");
    CHECK(
        why(list_of({list_of({number_value(0), number_value(9), list_of({text_value("a")})})})) ==
        "it does not tell the address of a primary");
}
