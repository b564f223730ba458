#include "config/load.hpp"
#include "runtime/compile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace std::chrono_literals;

config::Config load(std::string_view yaml) {
    auto config =
        config::load_text("listeners: [{address: 127.0.0.1:1}]\n" + std::string{yaml}, "test.yaml");
    if (!config)
        throw std::runtime_error{config.error().front().text()};
    return std::move(*config);
}

// What one process keeps from configuration to configuration.
struct Process {
    runtime::Compiled compile(std::string_view yaml) {
        runtime::Compiled compiled = runtime::compile(load(yaml), registry, slots, ++generation);
        std::vector<limits::LimitPtr> kept;
        for (const runtime::ConfiguredLimit& each : compiled.limits)
            kept.push_back(each.limit);
        registry.keep(std::move(kept));
        return compiled;
    }

    limits::Registry registry;
    observe::MetricSlots slots;
    std::uint64_t generation = 0;
};

const routing::Route& route(const runtime::Compiled& compiled, std::string_view name) {
    for (const routing::Route& each : compiled.snapshot->routes.routes())
        if (each.name == name)
            return each;
    throw std::runtime_error{"no such route"};
}

// The terms of a route's limit number i.
const routing::LimitTerms&
terms(const runtime::Compiled& compiled, std::string_view name, std::size_t i = 0) {
    return *compiled.snapshot->limits.at(route(compiled, name).limits.at(i).index);
}

const runtime::ConfiguredLimit& limit(const runtime::Compiled& compiled, std::string_view name) {
    for (const runtime::ConfiguredLimit& each : compiled.limits)
        if (each.limit->identity().name == name)
            return each;
    throw std::runtime_error{"no such limit"};
}

constexpr std::string_view one_upstream = "upstreams: {u: {endpoints: [127.0.0.1:9000]}}\n";

std::string with_limit(std::string_view text) {
    return std::string{one_upstream} + "limits: {l: " + std::string{text} +
           "}\nroutes: [{name: r, match: {path: /}, upstream: u, limits: [l]}]\n";
}

} // namespace

TEST_CASE("a route's limits are in the order that admit() needs, whatever order was written") {
    Process process;
    const runtime::Compiled compiled = process.compile(
        std::string{one_upstream} + "limits: {a: {requests: 1, per: 1s}, b: {concurrent: 2}, "
                                    "c: {requests: 3, per: 1m, key: client_ip}}\n"
                                    "routes:\n"
                                    "  - {name: r, match: {path: /}, upstream: u, "
                                    "limits: [c, {requests: 4, per: 1h}, a, b]}\n");

    const auto& limits = route(compiled, "r").limits;

    REQUIRE(limits.size() == 4);
    CHECK(std::ranges::is_sorted(limits, {}, [&](const routing::RouteLimit& each) {
        return compiled.snapshot->limits[each.index]->limit->ordinal();
    }));
    for (std::size_t i = 0; i < limits.size(); ++i) {
        const routing::LimitTerms& each = terms(compiled, "r", i);
        const std::string& name = each.limit->identity().name;
        CAPTURE(name);
        CHECK(each.quota == (name == "a" ? 1 : name == "b" ? 2 : name == "c" ? 3 : 4));
        CHECK(each.key.empty() == (name != "c"));
        CHECK(each.limit->keyed() == (name == "c"));
    }
}

TEST_CASE("a named limit is one for all routes that name it") {
    Process process;
    const runtime::Compiled compiled = process.compile(
        std::string{one_upstream} +
        "limits: {shared: {requests: 1, per: 1s}}\n"
        "routes:\n"
        "  - {name: a, match: {path: /a}, upstream: u, limits: [shared, {concurrent: 1}]}\n"
        "  - {name: b, match: {path: /b}, upstream: u, limits: [shared, {concurrent: 1}]}\n");

    const auto& a = route(compiled, "a").limits;
    const auto& b = route(compiled, "b").limits;

    CHECK(a[0].index == b[0].index);
    CHECK(terms(compiled, "a", 1).limit != terms(compiled, "b", 1).limit); // each route's own
    CHECK(a[0].refusal_metric != b[0].refusal_metric);
}

TEST_CASE("a limit of the same identity keeps its counts whatever its numbers") {
    Process process;
    const auto before = process.compile(with_limit("{requests: 5, per: 1m, key: client_ip}"));

    const auto after =
        process.compile(with_limit("{requests: 9, per: 60s, key: client_ip, max_keys: 7}"));

    CHECK(limit(after, "l").limit == limit(before, "l").limit);
    CHECK(limit(before, "l").numbers.quota == 5);
    CHECK(limit(after, "l").numbers.quota == 9);
    CHECK(terms(after, "r").quota == 9);
}

TEST_CASE("another per, key, anchor or kind is another limit") {
    Process process;
    const auto before = process.compile(with_limit("{requests: 5, per: 1m}"));
    std::string_view changed;
    SUBCASE("per") {
        changed = "{requests: 5, per: 61s}";
    }
    SUBCASE("key") {
        changed = "{requests: 5, per: 1m, key: client_ip}";
    }
    SUBCASE("anchor") {
        changed = "{requests: 5, per: 1m, anchor: clock}";
    }
    SUBCASE("kind") {
        changed = "{concurrent: 5}";
    }

    const auto after = process.compile(with_limit(changed));

    CHECK(limit(after, "l").limit != limit(before, "l").limit);
}

TEST_CASE("a limit that was away for one configuration begins anew") {
    Process process;
    std::uint64_t former = 0;
    former = limit(process.compile(with_limit("{requests: 5, per: 1m}")), "l").limit->ordinal();
    (void)process.compile(with_limit("{requests: 5, per: 2m}"));

    const auto back = process.compile(with_limit("{requests: 5, per: 1m}"));

    CHECK(limit(back, "l").limit->ordinal() > former);
}

TEST_CASE("a route's time-outs win over its upstream's, which win over the defaults") {
    Process process;
    const auto compiled = process.compile(
        "timeouts: {body_idle: 1s, connect: 2s, response: 3s, head: 4s, idle: 5s, drain: 6s}\n"
        "upstreams: {u: {endpoints: [127.0.0.1:9000], timeouts: {connect: 20s, response: 30s}}}\n"
        "routes: [{name: r, match: {path: /}, upstream: u, timeouts: {response: 300s}}]\n");

    const routing::RouteTimeouts& timeouts = route(compiled, "r").timeouts;

    CHECK(timeouts.body_idle == 1s);
    CHECK(timeouts.connect == 20s);
    CHECK(timeouts.response == 300s);
    CHECK(compiled.snapshot->timeouts.head == 4s);
    CHECK(compiled.snapshot->timeouts.idle == 5s);
    CHECK(compiled.snapshot->timeouts.body_idle == 1s);
    CHECK(compiled.snapshot->timeouts.drain == 6s);
}

TEST_CASE("what a route says of tunnels becomes what its requests need") {
    Process process;
    const auto compiled = process.compile(
        std::string{one_upstream} +
        "limits: {l: {concurrent: 1, ws_holds_slot: false}, m: {concurrent: 1}}\n"
        "routes:\n"
        "  - {name: r, match: {path: /r}, upstream: u, limits: [l, m], upgrade: [Foo],\n"
        "     timeouts: {tunnel_idle: 5s}}\n"
        "  - {name: s, match: {path: /s}, upstream: u, upgrade: off}\n");

    const routing::Route& r = route(compiled, "r");
    CHECK(r.upgrades == std::vector<std::string>{"foo"});
    CHECK(r.timeouts.tunnel_idle == 5s);
    CHECK(terms(compiled, "r", 0).charge({}).release_on_upgrade);
    CHECK_FALSE(terms(compiled, "r", 1).charge({}).release_on_upgrade);
    CHECK(route(compiled, "s").upgrades.empty());
    CHECK(route(compiled, "s").timeouts.tunnel_idle == 10min);
}

TEST_CASE("hosts, paths and methods become what routes match by") {
    using Kind = routing::HostPattern::Kind;
    Process process;
    const auto compiled = process.compile(
        std::string{one_upstream} +
        "routes:\n"
        "  - {name: any, match: {path: /}, upstream: u}\n"
        "  - {name: star, match: {host: '*', path: /star}, upstream: u}\n"
        "  - {name: exact, match: {host: shop.example, path: /p, methods: [GET]}, upstream: u}\n"
        "  - {name: suffix, match: {host: '*.example', path_exact: /q}, upstream: u}\n");

    CHECK(route(compiled, "any").match.host.kind == Kind::any);
    CHECK(route(compiled, "star").match.host.kind == Kind::any);
    CHECK(route(compiled, "exact").match.host.kind == Kind::exact);
    CHECK(route(compiled, "exact").match.host.text == "shop.example");
    CHECK(route(compiled, "exact").match.methods == std::vector<std::string>{"GET"});
    CHECK(route(compiled, "suffix").match.host.kind == Kind::suffix);
    CHECK(route(compiled, "suffix").match.host.text == ".example");
    CHECK(route(compiled, "suffix").match.path.kind == routing::PathPattern::Kind::exact);
    CHECK(compiled.snapshot->routes.match("a.example", "/q", "GET").route->name == "suffix");
    CHECK(compiled.snapshot->routes.match("example", "/q", "GET").route->name == "any");
}

TEST_CASE("endpoints keep their text, and names among them are to be resolved") {
    Process process;
    const auto compiled = process.compile(
        "upstreams:\n"
        "  u: {endpoints: [127.0.0.1:9000, 'shop.internal:80', '[::1]:81', 'unix:/run/s'], "
        "host: shop.example}\n"
        "routes: [{name: r, match: {path: /}, upstream: u}]\n");

    const routing::UpstreamSpec& spec = compiled.snapshot->upstreams->at(0);

    REQUIRE(spec.endpoints.size() == 4);
    CHECK(spec.endpoints[0].text == "127.0.0.1:9000");
    CHECK(spec.endpoints[2].host == "::1");
    CHECK(spec.endpoints[3].is_unix);
    CHECK(spec.host == "shop.example");
    CHECK(
        compiled.host_names ==
        stint::upstream::Resolver::Names{{"shop.internal", std::chrono::seconds{30}}});
}

TEST_CASE("a name keeps its slot in the counters over configurations that lack it") {
    Process process;
    const auto yaml = [](std::string_view first, std::string_view second) {
        const auto line = [](std::string_view name) {
            return "  - {name: " + std::string{name} + ", match: {path: /" + std::string{name} +
                   "}, upstream: u, limits: [l]}\n";
        };
        return std::string{one_upstream} + "limits: {l: {concurrent: 1}}\nroutes:\n" + line(first) +
               line(second);
    };
    const auto first = process.compile(yaml("a", "b"));
    const auto second = process.compile(yaml("c", "b"));
    const auto third = process.compile(yaml("b", "a"));

    CHECK(route(first, "a").metric != 0); // that one counts what has no route
    CHECK(route(second, "b").metric == route(first, "b").metric);
    CHECK(route(second, "c").metric != route(first, "a").metric);
    CHECK(route(third, "a").metric == route(first, "a").metric);
    CHECK(route(third, "a").limits[0].refusal_metric == route(first, "a").limits[0].refusal_metric);
    CHECK(third.snapshot->upstreams->at(0).metric == first.snapshot->upstreams->at(0).metric);
}

TEST_CASE("the snapshot says which configuration it is") {
    Process process;
    const auto text = std::string{one_upstream} +
                      "max_connections: 7\nmax_head: 2KiB\n"
                      "access_log: {path: 'off', fields: ['header:X-Api-Key']}\n"
                      "routes: [{name: r, match: {path: /}, upstream: u}]\n";

    (void)process.compile(text);
    const auto compiled = process.compile(text);

    CHECK(compiled.snapshot->generation == 2);
    CHECK(compiled.snapshot->load.max_connections == 7);
    CHECK(compiled.snapshot->heads.max_head == 2048);
    CHECK(compiled.snapshot->log.fields == std::vector<std::string>{"x-api-key"});
}

TEST_CASE("an endpoint is called what its own clients would send as Host") {
    Process process;
    const auto compiled = process.compile(
        "upstreams: {u: {endpoints: [127.0.0.1:80, 127.0.0.1:81, '[::1]:80', '[::1]:443', "
        "a.example:443, unix:/run/s]}}\n"
        "routes: [{name: r, upstream: u}]\n");

    std::vector<std::string> names;
    for (const routing::EndpointSpec& each : compiled.snapshot->upstreams->at(0).endpoints)
        names.push_back(each.authority);
    CHECK(
        names ==
        std::vector<std::string>{
            "127.0.0.1", "127.0.0.1:81", "[::1]", "[::1]:443", "a.example:443", "localhost"});
}

TEST_CASE("the snapshot knows how requests are read and what of them is protected") {
    Process process;
    const auto compiled = process.compile(
        std::string{one_upstream} +
        "max_target: 2KiB\nmax_fields: 9\nmax_body: 7\nmerge_slashes: false\n"
        "encoded_slashes: refuse\nforwarded: true\ntrusted_proxies: [unix]\n"
        "client_ip_header: X-Real-IP\ntrusted_fields: [X-Own-*]\nabsolute_form: route\n"
        "limits: {l: {requests: 1, per: 1s, key: [header:X-B, cookie:c, header:X-A]}}\n"
        "routes: [{name: r, upstream: u, max_body: off}, {name: s, match: {path: /s}, upstream: "
        "u}]\n");
    const routing::Snapshot& snapshot = *compiled.snapshot;

    CHECK(snapshot.heads.max_target == 2048);
    CHECK(snapshot.heads.max_fields == 9);
    CHECK_FALSE(snapshot.paths.merge_slashes);
    CHECK(snapshot.paths.refuse_encoded_slashes);
    CHECK(snapshot.hop.forwarded);
    CHECK(snapshot.paths.routes_absolute_form);
    CHECK(snapshot.trusted_fields.contains("x-own-a"));
    CHECK_FALSE(snapshot.trusted_fields.contains("x-real-ip"));
    CHECK(snapshot.protected_fields == std::vector<std::string>{"x-a", "x-b", "x-real-ip"});
    CHECK(route(compiled, "r").max_body == std::numeric_limits<std::uint64_t>::max());
    CHECK(route(compiled, "s").max_body == 7);
}

TEST_CASE("a lock is a cap that a route may take, and whose number a route may require") {
    Process process;
    const std::string yaml =
        std::string{one_upstream} +
        "permits: {address: 127.0.0.1:2}\n"
        "locks: {jobs: {}, product: {max: MAX, max_waiting: 5, when_exceeded: wait}}\n"
        "routes: [{name: r, upstream: u, limits: [{lock: product}]},"
        " {name: w, match: {path: /w}, upstream: u, require_fence: jobs}]\n";
    const auto with_max = [&](const char* max) {
        std::string text = yaml;
        return process.compile(text.replace(text.find("MAX"), 3, max));
    };
    const runtime::Compiled compiled = with_max("3");

    const limits::LimitPtr product = limit(compiled, "lock:product").limit;
    CHECK(
        product->identity() ==
        limits::LimitIdentity{
            .name = "lock:product", .key = {}, .algorithm = limits::Algorithm::concurrency});
    const routing::LimitTerms& taken = terms(compiled, "r");
    CHECK(taken.limit == product);
    CHECK(taken.quota == 3);
    CHECK(taken.wait->max_waiting == 5);
    CHECK(route(compiled, "r").fence == nullptr);
    CHECK(route(compiled, "w").fence == limit(compiled, "lock:jobs").limit);
    CHECK(
        process.slots.refusals().at(route(compiled, "w").fence_metric) ==
        std::pair<std::string, std::string>{"w", "lock:jobs"});

    product->raise_fence(7);
    const runtime::Compiled next = with_max("2");
    CHECK(limit(next, "lock:product").limit == product);
    CHECK(limit(next, "lock:product").numbers.quota == 2);
    CHECK(product->fence() == 7);
}
