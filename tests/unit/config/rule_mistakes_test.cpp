// Exceptions from limits, and mistakes in them.
#include "config_support.hpp"

namespace stint::config {

namespace {

// `limit` stands at 4:6.
void check_rule(
    std::string_view limit,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_added("limits:\n  a: " + std::string{limit} + "\nroutes: []\n", expected, at);
}

Limit limit_of(std::string_view limit) {
    return loaded(std::string{base} + "limits: {a: " + std::string{limit} + "}\nroutes: []\n")
        .limits.at(0);
}

} // namespace

TEST_CASE("overrides are numbers by key, exact or as a pattern") {
    const Limit window = limit_of("{requests: 1, per: 1s, key: header:k, overrides: {gold: "
                                  "{requests: 9}, g-*: {requests: 8}}}");
    REQUIRE(window.overrides.size() == 2);
    CHECK(window.overrides[0].key == "gold");
    CHECK(window.overrides[0].quota == 9);
    CHECK(window.overrides[1].key == "g-*");
    CHECK(
        limit_of("{concurrent: 1, key: host, overrides: {h: {concurrent: 2}}}")
            .overrides[0]
            .quota == 2);
}

TEST_CASE("an override of a token bucket may have a burst") {
    const Limit limit = limit_of("{requests: 10, per: 1s, algorithm: token_bucket, key: host, "
                                 "overrides: {h: {requests: 9, burst: 3}}}");
    CHECK(limit.overrides.at(0).quota == 9);
    CHECK(limit.overrides.at(0).burst == 3);

    check_rule(
        "{requests: 1, per: 1s, key: host, overrides: {x: {requests: 2, burst: 3}}}",
        {"4:69: limits.a.overrides.x.burst: unknown key; expected requests"});
    check_rule(
        "{requests: 1, per: 9d, algorithm: token_bucket, key: host, overrides: {x: {requests: 1, "
        "burst: 99}}}",
        {"4:94: limits.a.overrides.x.burst: would take more than 366 days to fill"});
    check_rule( // of the limit
        "{requests: 9, per: 9d, algorithm: token_bucket, burst: 99, key: host, overrides: {x: "
        "{requests: 1}}}",
        {"4:92: limits.a.overrides.x.requests: would take more than 366 days to fill the limit's "
         "burst (99); expected more, or a smaller burst beside it"});
}

TEST_CASE("an override is at least what a request costs") {
    CHECK(
        limit_of("{requests: 9, per: 1s, cost: 5, key: host, overrides: {x: {requests: 5}}}")
            .overrides.size() == 1);
    check_rule(
        "{requests: 9, per: 1s, cost: 5, key: host, overrides: {x: {requests: 4}}}",
        {"4:65: limits.a.overrides.x.requests: is 4, less than a request costs (5), so every "
         "request would be refused"});
    check_rule(
        "{requests: 9, per: 1s, algorithm: token_bucket, cost: 5, key: host, overrides: {x: "
        "{requests: 9, burst: 4}}}",
        {"4:103: limits.a.overrides.x.burst: is 4, less than a request costs (5)"});
    CHECK(
        limit_of("{requests: 9, per: 1s, algorithm: token_bucket, burst: 6, cost: 5, key: host, "
                 "overrides: {x: {requests: 1}}}")
            .overrides.size() == 1);
}

TEST_CASE("an override of a client has its key's spelling") {
    const auto key = [](std::string_view text, std::string_view more = "") {
        return limit_of(
                   "{concurrent: 1, key: client_ip, overrides: {'" + std::string{text} +
                   "': {concurrent: 2}}" + std::string{more} + "}")
            .overrides.at(0)
            .key;
    };

    CHECK(key("192.0.2.1") == "192.0.2.1");
    CHECK(key("::ffff:192.0.2.1") == "192.0.2.1");
    CHECK(key("2001:DB8::1") == "2001:db8::/64");
    CHECK(key("2001:db8::/64") == "2001:db8::/64");
    CHECK(key("192.0.2.7", ", ipv4_prefix: 24") == "192.0.2.0/24");
    CHECK(key("10.*") == "10.*");
}

TEST_CASE("lists have networks of clients and keys") {
    const Limit limit = limit_of(
        "{concurrent: 1, key: header:k, exempt: [10.0.0.0/8, friend-*, '::1'], deny: [foe]}");

    REQUIRE(limit.exempt.networks.size() == 2);
    CHECK(IpText{limit.exempt.networks[0]}.view() == "10.0.0.0/8");
    CHECK(limit.exempt.keys == std::vector<std::string>{"friend-*"});
    CHECK(limit.deny.keys == std::vector<std::string>{"foe"});
    CHECK(limit_of("{concurrent: 1, deny: [192.0.2.1]}").deny.networks.size() == 1);
    CHECK(limit_of("{concurrent: 1}").exempt.empty());
}

TEST_CASE("an override is for a key, with the number of its limit's kind") {
    check_rule(
        "{concurrent: 1, overrides: {x: {concurrent: 2}}}",
        {"4:22: limits.a.overrides: is only for a limit with a key"});
    check_rule(
        "{concurrent: 1, key: host, overrides: {x: {requests: 2}}}",
        {"4:48: limits.a.overrides.x: concurrent is missing",
         "4:49: limits.a.overrides.x.requests: unknown key; expected concurrent"});
    check_rule(
        "{concurrent: 1, key: host, overrides: {x: {concurrent: 0}}}",
        {"4:61: a limit of 0 would refuse every request"});
    check_rule(
        "{concurrent: 1, key: host, overrides: {x: 5}}",
        {"4:48: limits.a.overrides.x: found the value \"5\"; expected a map such as {concurrent: "
         "1000}"});
    check_rule(
        "{concurrent: 1, key: host, overrides: [x]}", {"4:44: found a list; expected a map"});
}

TEST_CASE("an override's key is one that a request may have, and there once") {
    check_rule(
        "{concurrent: 1, key: client_ip, overrides: {gold: {concurrent: 2}}}",
        {"4:50: limits.a.overrides.gold: \"gold\" is no key of this limit; expected an address"});
    check_rule(
        "{concurrent: 1, key: client_ip, overrides: {10.0.0.0/8: {concurrent: 2}}}",
        {"4:50: \"10.0.0.0/8\" is more than one key"});
    check_rule(
        "{concurrent: 1, key: client_ip, overrides: {'2001:db8::1': {concurrent: 2}, "
        "'2001:db8::2': {concurrent: 2}}}",
        {"4:82: \"2001:db8::/64\" is listed already"});
    check_rule(
        "{concurrent: 1, key: host, overrides: {'': {concurrent: 2}}}",
        {"4:45: is not a key; expected 1 to 256"});
}

TEST_CASE("a list without a key has networks alone, and no bits beyond their prefix") {
    check_rule(
        "{concurrent: 1, exempt: [friend]}",
        {"4:31: limits.a.exempt[0]: \"friend\" is not a network"});
    check_rule("{concurrent: 1, key: client_ip, deny: [10.0.0.0/33]}", {"4:45: is not a network"});
    check_rule(
        "{concurrent: 1, key: host, deny: [10.0.0.1/8]}", {"4:40: has bits beyond its prefix"});
    check_rule(
        "{concurrent: 1, deny: 10.0.0.0/8}",
        {"4:28: found the value \"10.0.0.0/8\"; expected a list"});
}

} // namespace stint::config
