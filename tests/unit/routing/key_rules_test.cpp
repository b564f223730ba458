#include "routing/key_rules.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint;
using namespace stint::routing;

TEST_CASE("a pattern stands for what it says") {
    CHECK(matches_glob("premium-*", "premium-"));
    CHECK(matches_glob("premium-*", "premium-7"));
    CHECK_FALSE(matches_glob("premium-*", "premium"));
    CHECK_FALSE(matches_glob("premium-*", "a-premium-7"));
    CHECK(matches_glob("*", ""));
    CHECK(matches_glob("**", "x"));
    CHECK(matches_glob("", ""));
    CHECK_FALSE(matches_glob("", "x"));
    CHECK(matches_glob("a?c", "abc"));
    CHECK_FALSE(matches_glob("a?c", "ac"));
    CHECK_FALSE(matches_glob("a?", "a"));
    CHECK(matches_glob("*a*b*c*", "xxaxbxbc"));
    CHECK_FALSE(matches_glob("*a*b*c", "xxaxbxbcd"));
    CHECK(matches_glob("*.example|gold", "a.example|x.example|gold"));
    CHECK_FALSE(matches_glob("[a-z]", "b"));
    CHECK(matches_glob("*ab", "aab"));
}

TEST_CASE("a pattern that almost matches a long text takes no exponential time") {
    std::string pattern;
    for (int i = 0; i < 100; ++i)
        pattern += "a*";
    CHECK_FALSE(matches_glob(pattern + "b", std::string(20'000, 'a')));
}

TEST_CASE("an exact key goes before the longest pattern, that before shorter ones") {
    KeyMap<int> map;
    CHECK(map.empty());
    map.add("*", 1);
    map.add("premium-*", 2);
    map.add("premium-7", 3);
    map.add("premium-??", 4);
    map.add("basic-????", 5);
    map.add("basic-*", 6);

    CHECK(*map.find("premium-7") == 3);
    CHECK(*map.find("premium-77") == 4);
    CHECK(*map.find("premium-777") == 2);
    CHECK(*map.find("x") == 1);
    CHECK(*map.find("basic-1234") == 5);
    CHECK(*map.find("basic-1") == 6);
    CHECK_FALSE(map.empty());
}

TEST_CASE("a key without an entry finds none") {
    KeyMap<int> map;
    map.add("a", 1);
    map.add("b*", 2);

    CHECK(map.find("") == nullptr);
    CHECK(map.find("A") == nullptr);
    CHECK(map.find("a ") == nullptr);
}

TEST_CASE("a list has clients by address and keys by text") {
    KeyList list;
    CHECK(list.empty());
    list.networks.push_back(Cidr::parse("10.0.0.0/8").value());
    list.keys.add("gold-*", {});
    const IpAddress inside = IpAddress::parse("10.1.2.3").value();
    const IpAddress outside = IpAddress::parse("192.0.2.1").value();

    CHECK(list.contains(inside, "any"));
    CHECK(list.contains(inside, ""));
    CHECK(list.contains(outside, "gold-1"));
    CHECK_FALSE(list.contains(outside, "silver"));
    CHECK_FALSE(list.contains(outside, "10.1.2.3"));
    CHECK_FALSE(list.contains(IpAddress{}, ""));
}

TEST_CASE("a missing key is on no list") {
    KeyList list;
    list.keys.add("*", {});

    CHECK(list.contains({}, "a"));
    CHECK_FALSE(list.contains({}, ""));
}
