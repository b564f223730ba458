#include "admin/status.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <ostream>

namespace {

using namespace std::chrono_literals;
using namespace stint;
using namespace stint::admin;

constexpr Hash128 someone{1, 2};

Now at(Duration since_start) {
    return {SteadyTime{1h + since_start}, WallTime{1h + since_start}};
}

config::Limit window(bool keyed) {
    config::Limit settings;
    settings.name = "budget";
    settings.quota = 3;
    settings.per = 1min;
    if (keyed)
        settings.key = {{config::KeySource::Kind::client_ip, ""}};
    return settings;
}

config::Limit cap(bool keyed) {
    config::Limit settings = window(keyed);
    settings.name = "slots";
    settings.kind = config::Limit::Kind::cap;
    return settings;
}

limits::LimitSpec spec(const config::Limit& settings) {
    const bool is_cap = settings.kind == config::Limit::Kind::cap;
    limits::LimitSpec spec;
    spec.identity = {
        .name = settings.name,
        .key = settings.key.empty() ? "" : "client_ip",
        .algorithm = is_cap ? limits::Algorithm::concurrency : limits::Algorithm::fixed_window,
        .anchor = limits::Anchor::first_request,
        .per = is_cap ? Duration{} : Duration{settings.per}};
    spec.quota = settings.quota;
    return spec;
}

limits::Decision ask(limits::Limit& limit, Duration when, Hash128 key = {}) {
    const std::array charges{limits::Charge{&limit, key, 3}};
    return limits::admit(charges, at(when));
}

config::Config status_example() {
    config::Config config;
    config::Upstream upstream;
    upstream.name = "shop";
    upstream.endpoints.push_back({"10.0.0.1", 80, false, "10.0.0.1:80"});
    upstream.endpoints.push_back({"shop.example", 80, false, "shop.example:80"});
    upstream.endpoints.push_back({"new.example", 80, false, "new.example:80"});
    config.upstreams.push_back(upstream);
    config::Route route;
    route.name = "all";
    config.routes.push_back(route);
    return config;
}

} // namespace

TEST_CASE("a window shows what is used, what remains, and when it ends") {
    limits::Limit limit{spec(window(false))};
    for (int i = 0; i < 4; ++i)
        (void)ask(limit, 0s);

    const Json shown = limit_json(window(false), limit, {}, at(15s));

    CHECK(
        shown == Json{
                     {"name", "budget"},
                     {"kind", "window"},
                     {"limit", 3},
                     {"per_ms", 60'000},
                     {"algorithm", "fixed_window"},
                     {"anchor", "first_request"},
                     {"pace", false},
                     {"enforce", true},
                     {"cost", 1},
                     {"used", 3},
                     {"remaining", 0},
                     {"resets_in_ms", 45'000},
                     {"refused", 1}});
}

TEST_CASE("a number that was lowered below what is used leaves nothing, not less") {
    limits::Limit limit{spec(window(false))};
    for (int i = 0; i < 3; ++i)
        (void)ask(limit, 0s);
    config::Limit lowered = window(false);
    lowered.quota = 1;

    const Json shown = limit_json(lowered, limit, {}, at(0s));

    CHECK(shown["used"] == 3);
    CHECK(shown["remaining"] == 0);
}

TEST_CASE("a cap shows what is in flight, and no window") {
    limits::Limit limit{spec(cap(false))};
    const limits::Decision held = ask(limit, 0s);

    const Json shown = limit_json(cap(false), limit, {}, at(1s));

    CHECK(
        shown == Json{
                     {"name", "slots"},
                     {"kind", "cap"},
                     {"limit", 3},
                     {"ws_holds_slot", true},
                     {"enforce", true},
                     {"cost", 1},
                     {"in_flight", 1},
                     {"remaining", 2},
                     {"refused", 0}});
}

TEST_CASE("a limit with a key shows how many keys are live, and of none of them the count") {
    limits::Limit limit{spec(window(true))};
    (void)ask(limit, 0s, someone);
    (void)ask(limit, 0s, {3, 4});

    const Json shown = limit_json(window(true), limit, {}, at(1s));

    CHECK(shown["live_keys"] == 2);
    CHECK(shown["overflowed"] == 0);
    CHECK(shown["table_full"] == 0);
    CHECK(shown["max_keys"] == 1'000'000);
    CHECK_FALSE(shown.contains("used"));
    CHECK_FALSE(shown.contains("remaining"));
}

TEST_CASE("a chosen key shows its own count") {
    limits::Limit limit{spec(window(true))};
    (void)ask(limit, 0s, someone);
    (void)ask(limit, 0s, {3, 4});
    (void)ask(limit, 0s, {3, 4});

    const Json shown = limit_json(window(true), limit, ChosenKey{"192.0.2.1", someone, 3}, at(1s));

    CHECK(shown["key_value"] == "192.0.2.1");
    CHECK(shown["used"] == 1);
    CHECK(shown["remaining"] == 2);
    CHECK(shown["resets_in_ms"] == 59'000);
}

TEST_CASE("a cap with a key shows its slots in all, or those of the chosen key") {
    limits::Limit limit{spec(cap(true))};
    const limits::Decision one = ask(limit, 0s, someone);
    const limits::Decision two = ask(limit, 0s, {3, 4});

    const Json all = limit_json(cap(true), limit, {}, at(1s));
    const Json chosen = limit_json(cap(true), limit, ChosenKey{"192.0.2.1", someone, 3}, at(1s));

    CHECK(all["in_flight"] == 2);
    CHECK_FALSE(all.contains("remaining")); // a cap a key: there is no sum of what remains
    CHECK(chosen["in_flight"] == 1);
    CHECK(chosen["remaining"] == 2);
}

TEST_CASE("a route shows its traffic by what became of it") {
    observe::MetricSlots slots;
    const auto slot = slots.route("all");
    observe::WorkerCounters counters;
    counters.fit(slot + 1, 0, 0);
    counters.routes[slot].in_flight = 2;
    counters.routes[slot].bytes_out = 99;
    counters.routes[slot].requests[static_cast<std::size_t>(observe::Outcome::forwarded)] = {
        0, 0, 5, 1, 0, 0};

    const Json shown = routes_status_json(status_example(), counters, slots)[0];

    CHECK(shown["name"] == "all");
    CHECK(shown["upstream"] == "shop");
    CHECK(shown["requests_in_flight"] == 2);
    CHECK(shown["requests"]["forwarded"] == 6);
    CHECK(shown["requests"]["refused"] == 0);
    CHECK(shown["bytes_out"] == 99);
}

TEST_CASE("what has no counters yet shows zeros") {
    const observe::MetricSlots slots;

    CHECK(routes_status_json(status_example(), {}, slots)[0]["requests_in_flight"] == 0);
    CHECK(upstreams_status_json(status_example(), {}, {}, slots)[0]["connects"] == 0);
}

TEST_CASE("an upstream shows the addresses behind its names and its connections") {
    observe::MetricSlots slots;
    const auto slot = slots.upstream("shop");
    observe::WorkerCounters counters;
    counters.fit(0, 0, slot + 1);
    counters.upstreams[slot].idle = 4;
    counters.upstreams[slot].connect_failures = 1;
    const upstream::AddressBook book{{"shop.example", {"192.0.2.1", "192.0.2.2"}}};

    const Json shown = upstreams_status_json(status_example(), book, counters, slots)[0];

    CHECK(shown["connections_idle"] == 4);
    CHECK(shown["connect_failures"] == 1);
    const Json& endpoints = shown["endpoints"];
    CHECK(endpoints[0] == Json{{"endpoint", "10.0.0.1:80"}});
    CHECK(endpoints[1]["addresses"] == Json::array({"192.0.2.1", "192.0.2.2"}));
    CHECK(endpoints[2]["addresses"] == Json::array());
}
