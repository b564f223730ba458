// Mistakes in limits, named and inline.
#include "config_support.hpp"

namespace stint::config {

namespace {

// `limit` stands at 4:6.
void check_limit(
    std::string_view limit,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_added("limits:\n  a: " + std::string{limit} + "\nroutes: []\n", expected, at);
}

// `limits` begins at 3:41.
void check_inline(
    std::string_view limits,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_added(
        "routes: [{name: r, upstream: shop, limits: [" + std::string{limits} +
            "]}]\nlimits: {one: {concurrent: 1}, two: {concurrent: 2}}\n",
        expected, at);
}

} // namespace

TEST_CASE("a limit is a window or a cap and not both") {
    check_limit("{}", {"4:6: limits.a: a limit needs requests and per (a window) or concurrent"});
    check_limit("{per: 1s}", {"4:6: limits.a: a limit needs requests and per"});
    check_limit(
        "{requests: 1, per: 1s, concurrent: 2}",
        {"4:29: limits.a.concurrent: excludes requests; make two limits of them"});
    check_limit("{requests: 1}", {"4:6: limits.a: per is missing; expected the window's length"});
    check_limit(
        "{concurrent: 1, per: 1s, anchor: clock}",
        {"4:22: limits.a.per: belongs to a window (requests), not to a cap (concurrent)",
         "4:31: limits.a.anchor: belongs to a window"});
    check_limit(
        "5",
        {"4:6: limits.a: found the value \"5\"; expected a map such as {requests: 100, per: 1m}"});
}

TEST_CASE("a limit of 0 says what it would do") {
    check_limit(
        "{requests: 0, per: 1s}", {"4:17: limits.a.requests: a limit of 0 would refuse every "
                                   "request; expected at least 1 (to "
                                   "close a route, remove it; to shut clients or keys out, "
                                   "list them under deny)"});
    check_limit("{concurrent: 0}", {"4:19: limits.a.concurrent: a limit of 0 would refuse"});
}

TEST_CASE("a limit's numbers are whole and in range") {
    check_limit("{requests: -1, per: 1s}", {"4:17: \"-1\" is negative; expected a whole number"});
    check_limit("{requests: 1.5, per: 1s}", {"4:17: \"1.5\" is not a whole number"});
    check_limit("{requests: 1e3, per: 1s}", {"4:17: \"1e3\" is not a whole number"});
    check_limit("{requests: 0x10, per: 1s}", {"4:17: \"0x10\" is not a whole number"});
    check_limit("{requests: 010, per: 1s}", {"4:17: \"010\" begins with a zero"});
    check_limit("{requests: many, per: 1s}", {"4:17: \"many\" is not a whole number"});
    check_limit(
        "{requests: 1000000000001, per: 1s}", {"4:17: is too large; expected a whole number "
                                               "from 1 to 1000000000000"});
    check_limit("{requests: 18446744073709551617, per: 1s}", {"4:17: is too large"});
    check_limit("{concurrent: 1000001}", {"4:19: is too large"});
    check_limit("{concurrent: 1, key: client_ip, max_keys: 0}", {"4:48: \"0\" is zero"});
}

TEST_CASE("a window lasts from a millisecond to 366 days") {
    check_limit("{requests: 1, per: 366d}", {});
    check_limit("{requests: 1, per: 1ms}", {});
    check_limit("{requests: 1, per: 1.5ms}", {});
    check_limit("{requests: 1, per: 366.1d}", {"4:25: limits.a.per: \"366.1d\" is too long"});
    check_limit("{requests: 1, per: 0.5ms}", {"4:25: limits.a.per: \"0.5ms\" is too short"});
    check_limit("{requests: 1, per: 60}", {"4:25: \"60\" has no unit; expected a number with ms"});
    check_limit("{requests: 1, per: 5us}", {"4:25: \"5us\" has no known unit"});
    check_limit("{requests: 1, per: minute}", {"4:25: \"minute\" is not a number"});
}

TEST_CASE("only a cap has slots for tunnels") {
    check_limit("{concurrent: 1, ws_holds_slot: false}", {});
    check_limit(
        "{requests: 1, per: 1s, ws_holds_slot: false}",
        {"4:29: limits.a.ws_holds_slot: belongs to a cap (concurrent)"});
    check_limit("{concurrent: 1, ws_holds_slot: no}", {"4:37: limits.a.ws_holds_slot: \"no\" is"});
}

TEST_CASE("an anchor is among those that exist, max_keys is for a key") {
    check_limit(
        "{concurrent: 1, max_keys: 5}",
        {"4:22: limits.a.max_keys: is only for a limit with a key"});
    check_limit(
        "{requests: 1, per: 1s, anchor: calendar}",
        {"4:37: limits.a.anchor: \"calendar\" is unknown; expected first_request or clock"});
}

TEST_CASE("a named limit has a proper name and no other") {
    check_added(
        "limits: {a b: {concurrent: 1}, c: {name: d, concurrent: 1}}\nroutes: []\n",
        {"3:10: limits.\"a b\": \"a b\" is not a name",
         "3:36: limits.c.name: unknown key; the name of a limit is its key in the map limits"});
}

TEST_CASE("a route's limits are names that exist or maps") {
    check_inline(
        "oen", {"3:45: routes[0].limits[0]: \"oen\" is not a limit; did you mean \"one\"?"});
    check_inline("three", {"3:45: \"three\" is not a limit; expected one or two"});
    check_inline("[one]", {"3:45: found a list; expected a limit's name or a map"});
    check_added(
        "routes: [{name: r, upstream: shop, limits: [x]}]\n",
        {"3:45: is not a limit; none is defined"});
}

TEST_CASE("a route names a limit once and has at most 16") {
    check_inline("one, two, one", {"3:55: routes[0].limits[2]: \"one\" is listed already"});
    std::string seventeen = "one";
    for (int i = 0; i < 16; ++i)
        seventeen += ", {concurrent: 1}";
    check_inline(seventeen, {"3:305: routes[0].limits[16]: too many limits; expected at most 16"});
}

TEST_CASE("an inline limit's name is free") {
    check_inline(
        "{name: one, concurrent: 1}",
        {"3:45: routes[0].limits[0]: the name \"one\" is taken by the limit on line 4"});
    check_inline(
        "{name: x, concurrent: 1}, {name: x, concurrent: 1}",
        {"3:71: routes[0].limits[1]: the name \"x\" is taken by the limit on line 3"});
    check_inline(
        "{name: r.2, concurrent: 1}, {concurrent: 1}", {"3:73: the name \"r.2\" is taken"});
    check_inline(
        "{name: \"\", concurrent: 1}", {"3:52: routes[0].limits[0].name: \"\" is not a name"});
}

TEST_CASE("an inline limit whose made-up name is too long needs one of its own") {
    const std::string name(63, 'r');
    check_added(
        "routes: [{name: " + name + ", upstream: shop, limits: [{concurrent: 1}]}]\n",
        {"3:107: longer than 64 characters; expected a name of its own"});
}

TEST_CASE("how to wait is said only where requests wait") {
    check_limit(
        "{concurrent: 1, max_wait: 2s, max_waiting: 5}",
        {"4:22: limits.a.max_wait: is only for a limit with when_exceeded: wait",
         "4:36: limits.a.max_waiting: is only for a limit with when_exceeded: wait"});
    check_limit(
        "{concurrent: 1, when_exceeded: refuse, fair_by: client_ip}",
        {"4:45: limits.a.fair_by: is only for a limit with when_exceeded: wait"});
}

TEST_CASE("a limit that is not enforced may say how it would let requests wait") {
    const Limit limit =
        loaded(
            std::string{base} +
            "limits: {a: {concurrent: 1, enforce: false, when_exceeded: wait, max_wait: 3s, "
            "max_waiting: 5, fair_by: host}}\nroutes: []\n")
            .limits.at(0);

    CHECK_FALSE(limit.enforce);
    REQUIRE(limit.wait);
    CHECK(limit.wait->max_wait == std::chrono::seconds{3});
    CHECK(limit.wait->max_waiting == 5);
}

TEST_CASE("waiting has its words, and numbers in range") {
    check_limit("{concurrent: 1, when_exceeded: queue}", {"4:37: limits.a.when_exceeded"});
    check_limit(
        "{concurrent: 1, when_exceeded: wait, max_wait: 5}",
        {"4:53: limits.a.max_wait: \"5\" has no unit"});
    check_limit(
        "{concurrent: 1, when_exceeded: wait, max_waiting: 0}", {"4:56: limits.a.max_waiting"});
    check_limit(
        "{concurrent: 1, when_exceeded: wait, max_waiting: 100001}",
        {"4:56: limits.a.max_waiting: \"100001\" is too large"});
    check_limit("{concurrent: 1, when_exceeded: wait, fair_by: moon}", {"4:52: limits.a.fair_by"});
}

TEST_CASE("only a plain fixed window gives slots to those it refuses") {
    check_limit(
        "{concurrent: 1, retry_after: reserve}",
        {"4:22: limits.a.retry_after: reserve is not for a cap, which has no windows; expected a "
         "window (requests, per: a duration) with algorithm: fixed_window and without pace"});
    check_limit(
        "{requests: 1, per: 1s, algorithm: sliding_window, retry_after: reserve}",
        {"4:56: limits.a.retry_after: reserve is not for algorithm: sliding_window"});
    check_limit(
        "{requests: 1, per: 1s, algorithm: token_bucket, retry_after: reserve}",
        {"4:54: limits.a.retry_after: reserve is not for algorithm: token_bucket"});
    check_limit(
        "{requests: 1, per: day, retry_after: reserve}",
        {"4:30: limits.a.retry_after: reserve is not for per: day, week or month"});
    check_limit(
        "{requests: 1, per: 1s, pace: true, retry_after: reserve}",
        {"4:41: limits.a.retry_after: reserve is not for pace: true"});
}

TEST_CASE("who gets a slot neither waits nor is spread at random") {
    check_limit(
        "{requests: 1, per: 1s, when_exceeded: wait, retry_after: reserve}",
        {"4:50: limits.a.retry_after: reserve excludes when_exceeded: wait"});
    check_limit(
        "{requests: 1, per: 1s, retry_after: reserve, retry_after_jitter: 1s}",
        {"4:51: limits.a.retry_after_jitter: is not for retry_after: reserve"});
}

TEST_CASE("slots have their words, and are for somebody only where there are any") {
    check_limit(
        "{requests: 1, per: 1s, retry_after: later}", {"4:42: limits.a.retry_after: \"later\""});
    check_limit(
        "{requests: 1, per: 1s, reserve_for: host}",
        {"4:29: limits.a.reserve_for: is only for a limit with retry_after: reserve"});
    check_limit(
        "{requests: 1, per: 1s, retry_after: reset, reserve_for: host}",
        {"4:49: limits.a.reserve_for: is only for a limit with retry_after: reserve"});
    check_limit(
        "{requests: 1, per: 1s, retry_after: reserve, reserve_for: moon}",
        {"4:64: limits.a.reserve_for"});
}

} // namespace stint::config
