// What an upstream says of several endpoints.
#include "config_support.hpp"

namespace stint::config {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view head = "listeners: [{address: 127.0.0.1:8080}]\nroutes: []\n";

std::string upstream_with(std::string_view settings, std::string_view endpoints = "a:1, b:1") {
    return std::string{head} + "upstreams: {u: {endpoints: [" + std::string{endpoints} + "], " +
           std::string{settings} + "}}\n";
}

Upstream loaded_upstream(std::string_view settings, std::string_view endpoints = "a:1, b:1") {
    return loaded(upstream_with(settings, endpoints)).upstreams.at(0);
}

void check_wrong(
    std::string_view settings,
    std::string_view expected,
    std::source_location at = std::source_location::current()) {
    check_mistakes(upstream_with(settings), {expected}, at);
}

} // namespace

TEST_CASE("endpoints go in turn and are taken out after failures unless it is said otherwise") {
    const Upstream upstream = loaded_upstream("host: shop");

    CHECK(upstream.load.how == LoadBalance::How::round_robin);
    CHECK(upstream.endpoints[0].weight == 1);
    CHECK(upstream.endpoints[0].max_requests == 0);
    REQUIRE(upstream.load.ejection);
    CHECK(upstream.load.ejection->failures == 5);
    CHECK(upstream.load.ejection->first == 10s);
    CHECK(upstream.load.ejection->most == 5min);
    CHECK_FALSE(upstream.load.health);
    CHECK_FALSE(upstream.load.fail_open);
    CHECK(upstream.load.slow_start == 0s);
    CHECK(upstream.load.queue.max_waiting == 100);
    CHECK(upstream.load.queue.max_wait == 1s);
}

TEST_CASE("an endpoint may be a map with what it takes") {
    const Upstream upstream = loaded_upstream(
        "queue: {max_waiting: 7, max_wait: 3s}",
        "{address: a:1, weight: 3, max_requests: 100}, b:1");

    REQUIRE(upstream.endpoints.size() == 2);
    CHECK(upstream.endpoints[0].text == "a:1");
    CHECK(upstream.endpoints[0].weight == 3);
    CHECK(upstream.endpoints[0].max_requests == 100);
    CHECK(upstream.endpoints[1].weight == 1);
    CHECK(upstream.load.queue.max_waiting == 7);
    CHECK(upstream.load.queue.max_wait == 3s);
}

TEST_CASE("every way to look after endpoints is read") {
    const Upstream upstream = loaded_upstream(
        "balance: hash, hash_key: [header:X-Key, client_ip], slow_start: 30s, "
        "ejection: {failures: 3, for: 1s, most: 1m}, when_all_down: fail_open, "
        "health: {path: '/up?deep=1', interval: 1s, timeout: 500ms, healthy_after: 1, "
        "unhealthy_after: 4, expect: [200, 300-302]}");

    CHECK(upstream.load.how == LoadBalance::How::hash);
    CHECK(upstream.hash_key.size() == 2);
    CHECK(upstream.load.slow_start == 30s);
    REQUIRE(upstream.load.ejection);
    CHECK(upstream.load.ejection->failures == 3);
    CHECK(upstream.load.ejection->most == 1min);
    CHECK(upstream.load.fail_open);
    REQUIRE(upstream.load.health);
    CHECK(upstream.load.health->path == "/up?deep=1");
    CHECK(upstream.load.health->unhealthy_after == 4);
    CHECK(
        upstream.load.health->expect == std::vector<HealthCheck::Statuses>{{200, 200}, {300, 302}});
    CHECK_FALSE(loaded_upstream("ejection: off").load.ejection);
    CHECK(loaded_upstream("ejection: on").load.ejection);
    CHECK(loaded_upstream("when_all_down: 503").load.fail_open == false);
    CHECK(loaded_upstream("health: {path: /}").load.health->expect.size() == 1);
}

TEST_CASE("mistakes in them say where and what") {
    check_wrong("balance: random", "3:49: upstreams.u.balance: \"random\" is unknown");
    check_wrong("hash_key: client_ip", "3:40: is only for balance: hash");
    check_wrong("balance: hash, hash_key: cookies", "3:65: upstreams.u.hash_key: \"cookies\"");
    check_wrong("slow_start: 30", "3:52: upstreams.u.slow_start: \"30\" has no unit");
    check_wrong("ejection: {failures: 0}", "3:61: upstreams.u.ejection.failures: \"0\" is zero");
    check_wrong("ejection: {for: 1m, most: 10s}", "3:50: most is shorter than for");
    check_wrong("ejection: maybe", "3:50: \"maybe\" is unknown");
    check_wrong("health: {interval: 1s}", "3:48: upstreams.u.health: path is missing");
    check_wrong("health: {path: healthz}", "3:55: \"healthz\" is not a path");
    check_wrong("health: {path: '/a b'}", "3:55: is not a path");
    check_wrong("health: {path: /, expect: 2xx}", "3:66: \"2xx\" is no status");
    check_wrong("health: {path: /, expect: 299-200}", "3:66: \"299-200\" is no status");
    check_wrong("health: {path: /, expect: []}", "3:66: is empty; expected at least one status");
    check_wrong("when_all_down: 502", "3:55: \"502\" is unknown");
    check_wrong(
        "queue: {max_wait: 1s}", "3:40: has no use: no endpoint of this upstream has max_requests");
}

TEST_CASE("mistakes in an endpoint's map say where and what") {
    const auto check = [](std::string_view endpoints, std::string_view expected) {
        check_mistakes(upstream_with("host: h", endpoints), {expected});
    };
    check("{weight: 2}", "3:29: upstreams.u.endpoints[0]: address is missing");
    check("{address: a:1, weight: 0}", "3:52: upstreams.u.endpoints[0].weight: \"0\" is zero");
    check(
        "{address: a:1, weight: 1001}",
        "3:52: is too large; expected a whole number from 1 to 1000");
    check("{address: a:1, max_requests: -1}", "3:58: is negative");
    check("{address: a}", "3:39: upstreams.u.endpoints[0].address: \"a\" has no port");
    check("a:1, {address: a:1}", "3:34: \"a:1\" is listed already");
    std::string many;
    for (int port = 1; port <= 65; ++port)
        many += (port > 1 ? ", a:" : "a:") + std::to_string(port);
    check(many, "3:28: has more than 64 endpoints");
}

} // namespace stint::config
