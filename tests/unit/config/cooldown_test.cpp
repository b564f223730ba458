// What a configuration says about pauses that upstreams ask for.
#include "config_support.hpp"

namespace stint::config {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view listener = "listeners: [{address: 127.0.0.1:8080}]\n";

std::string upstream_with(std::string_view cooldown) {
    return std::string{listener} +
           "upstreams: {a: {endpoints: [127.0.0.1:9000], cooldown: " + std::string{cooldown} +
           "}}\nroutes: []\n";
}

} // namespace

TEST_CASE("nothing pauses unless asked for") {
    CHECK_FALSE(loaded(std::string{base} + std::string{no_routes}).upstreams[0].cooldown);
}

TEST_CASE("a cool-down has defaults, which depend on where it stands") {
    const Config config = loaded(
        std::string{listener} +
        "upstreams: {a: {endpoints: [127.0.0.1:9000], cooldown: on}}\n"
        "routes:\n"
        "  - {name: a, upstream: a, match: {path: /a}, cooldown: {default: 5s}}\n"
        "  - {name: b, upstream: a, match: {path: /b}, cooldown: off}\n"
        "  - {name: c, upstream: a, match: {path: /c}, cooldown: {scope: host, max_cooldown: 1m, "
        "ramp_up: 5s, learn: true}}\n");

    REQUIRE(config.upstreams[0].cooldown);
    const Cooldown& of_upstream = *config.upstreams[0].cooldown;
    CHECK(of_upstream.on);
    CHECK(of_upstream.scope == Cooldown::Scope::host);
    CHECK(of_upstream.most == 10min);
    CHECK(of_upstream.ramp == 30s);
    CHECK_FALSE(of_upstream.otherwise);
    CHECK(config.routes[0].cooldown->scope == Cooldown::Scope::route);
    CHECK(config.routes[0].cooldown->otherwise == 5s);
    CHECK_FALSE(config.routes[1].cooldown->on);
    CHECK(config.routes[2].cooldown->scope == Cooldown::Scope::host);
    CHECK(config.routes[2].cooldown->most == 1min);
    CHECK(config.routes[2].cooldown->ramp == 5s);
    CHECK(config.routes[2].cooldown->learn);
    CHECK_FALSE(of_upstream.learn);
}

TEST_CASE("requests wait for a pause to end only where that is asked for") {
    const auto wait_of = [](std::string_view cooldown) {
        return loaded(upstream_with(cooldown)).upstreams[0].cooldown->wait;
    };
    CHECK_FALSE(wait_of("on"));
    CHECK_FALSE(wait_of("{when_paused: answer}"));
    const auto usual = wait_of("{when_paused: wait}");
    REQUIRE(usual);
    CHECK(usual->max_wait == 30s);
    CHECK(usual->max_waiting == 1000);
    const auto own = wait_of("{when_paused: wait, max_wait: 5s, max_waiting: 7}");
    REQUIRE(own);
    CHECK(own->max_wait == 5s);
    CHECK(own->max_waiting == 7);
}

TEST_CASE("gateways share pauses by a store") {
    const std::string base_with_store =
        std::string{listener} +
        "stores: {main: {redis: 127.0.0.1:6379}, more: {redis: 127.0.0.1:6380}}\n";
    const Config config = loaded(
        base_with_store +
        "upstreams: {a: {endpoints: [127.0.0.1:9000], cooldown: {shared: more}}}\n"
        "routes:\n"
        "  - {name: a, upstream: a, match: {path: /a}, cooldown: {shared: main}}\n"
        "  - {name: b, upstream: a, match: {path: /b}, cooldown: {scope: host, shared: more}}\n"
        "  - {name: c, upstream: a, match: {path: /c}}\n");
    CHECK(config.upstreams[0].cooldown->shared == 1);
    CHECK(config.routes[0].cooldown->shared == 0);
    // Both pause the same hosts.
    check_mistakes(
        base_with_store +
            "upstreams: {a: {endpoints: [127.0.0.1:9000], cooldown: {shared: main}}}\n"
            "routes:\n"
            "  - {name: c, upstream: a, match: {path: /c}}\n"
            "  - {name: d, upstream: a, match: {path: /d}, cooldown: {scope: host}}\n",
        {"6:5: routes[1]: pauses by host as the route \"c\" does, and the upstream has one pause a "
         "host for both; "
         "expected a cooldown with the same shared, or another scope"});
    check_mistakes(
        upstream_with("{shared: main}"),
        {"2:65: upstreams.a.cooldown.shared: \"main\" is not a store; expected a name under "
         "stores:"});
}

TEST_CASE("wrong cool-downs are mistakes") {
    const auto check = [](std::string_view cooldown, std::initializer_list<std::string_view> all) {
        check_mistakes(upstream_with(cooldown), all);
    };
    check(
        "yes", {"2:56: upstreams.a.cooldown: \"yes\" is unknown; expected on, off or a map such as "
                "{scope: host, max_cooldown: 30s}; did you mean \"on\"?"});
    check("{learn: 1}", {"2:64: upstreams.a.cooldown.learn: \"1\" is neither true nor false"});
    check("{scope: key}", {"2:56: upstreams.a.cooldown: scope: key needs a key, such as"});
    check("{key: host}", {"2:57: upstreams.a.cooldown.key: is only for scope: key"});
    check("{scope: key, key: []}", {"2:74: upstreams.a.cooldown.key: is empty"});
    check("{scope: key, key: [hots]}", {"2:75: upstreams.a.cooldown.key[0]: \"hots\""});
    check("[]", {"2:56: upstreams.a.cooldown: found a list; expected on, off or a map such as"});
    check(
        "{scope: client, max_cooldown: 5, ramp: 1s}",
        {"2:64: upstreams.a.cooldown.scope: \"client\" is unknown; expected host, route or key",
         "2:86: upstreams.a.cooldown.max_cooldown: \"5\" has no unit",
         "2:89: upstreams.a.cooldown.ramp: unknown key"});
    check(
        "{when_paused: hold}",
        {"2:70: upstreams.a.cooldown.when_paused: \"hold\" is unknown; expected answer or wait"});
    check("{max_wait: 5s}", {"2:57: upstreams.a.cooldown.max_wait: is only for when_paused: wait"});
    check(
        "{when_paused: answer, max_waiting: 5}",
        {"2:78: upstreams.a.cooldown.max_waiting: is only for when_paused: wait"});
    check(
        "{when_paused: wait, max_wait: 5, max_waiting: 0}",
        {"2:86: upstreams.a.cooldown.max_wait: \"5\" has no unit",
         "2:102: upstreams.a.cooldown.max_waiting: "});
    check("{default: 1h}", {"2:57: upstreams.a.cooldown.default: is longer than max_cooldown"});
}

} // namespace stint::config
