// What differs between two configurations, and where.
#include "config/diff/changes.hpp"
#include "config/diff/growing_part.hpp"
#include "config/yaml/places.hpp"
#include "config_support.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace stint::config {

namespace {

using Kind = Difference::Kind;
using Numbers = std::vector<std::size_t>;

std::string with(std::string_view lines) {
    return std::string{base} + std::string{lines};
}

std::string word(Kind kind) {
    switch (kind) {
    case Kind::added:
        return "added ";
    case Kind::removed:
        return "removed ";
    case Kind::changed:
        return "changed ";
    case Kind::moved:
        break;
    }
    return "moved ";
}

// Each difference as its kind and its path.
std::vector<std::string> found(const std::string& former, const std::string& next) {
    std::vector<std::string> texts;
    for (const Change& each : changes_between(loaded(former), loaded(next)))
        texts.push_back(word(each.kind) + path_text(each.path));
    return texts;
}

using Texts = std::vector<std::string>;

// Two routes in each, in this order of their names.
std::string routes_named(std::initializer_list<std::string_view> names) {
    std::string text = "routes:\n";
    for (const std::string_view name : names)
        text.append("  - {name: ")
            .append(name)
            .append(", match: {path: /")
            .append(name)
            .append("}, upstream: shop}\n");
    return with(text);
}

Shown number_of(const Change& change) {
    return change.next.value_or(Shown{0});
}

bool grows(const Numbers& numbers, const std::vector<bool>& chosen) {
    std::size_t last = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!chosen[i])
            continue;
        if (numbers[i] < last)
            return false;
        last = numbers[i];
    }
    return true;
}

// The length of the longest growing part, by trying all.
std::size_t longest_by_trying(const Numbers& numbers) {
    std::size_t longest = 0;
    for (unsigned set = 0; set < 1U << numbers.size(); ++set) {
        std::vector<bool> chosen(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i)
            chosen[i] = (set >> i & 1U) != 0;
        if (grows(numbers, chosen))
            longest = std::max<std::size_t>(
                longest, static_cast<std::size_t>(std::ranges::count(chosen, true)));
    }
    return longest;
}

} // namespace

TEST_CASE("a configuration does not differ from itself") {
    CHECK(changes_between(loaded(shop), loaded(shop)).empty());
}

TEST_CASE("what is written and what is the default are the same") {
    CHECK(found(with(no_routes), with("max_connections: 10000\nroutes: []\n")).empty());
    CHECK(
        found(
            with("timeouts: {head: 1m}\nroutes: []\n"), with("timeouts: {head: 60s}\nroutes: []\n"))
            .empty());
}

TEST_CASE("the order of limits, upstreams and keys is no difference") {
    CHECK(found(
              with("limits: {a: {requests: 1, per: 1s}, b: {concurrent: 2}}\nroutes: []\n"),
              with("routes: []\nlimits: {b: {concurrent: 2}, a: {per: 1s, requests: 1}}\n"))
              .empty());
}

TEST_CASE("a changed value is told with both values, and a default as any other") {
    const auto changes =
        changes_between(loaded(with(no_routes)), loaded(with("max_head: 8KiB\nroutes: []\n")));

    REQUIRE(changes.size() == 1);
    CHECK(path_text(changes[0].path) == "max_head");
    CHECK(changes[0].former == Shown{Shown::Bytes{16'384}});
    CHECK(changes[0].next == Shown{Shown::Bytes{8'192}});
}

TEST_CASE("limits are added, removed and changed by their names") {
    CHECK(
        found(
            with("limits: {a: {requests: 1, per: 1s}, b: {concurrent: 2}}\nroutes: []\n"),
            with("limits: {c: {concurrent: 2}, a: {requests: 1, per: 2s}}\nroutes: []\n")) ==
        Texts{"added limits.c", "changed limits.a.per", "removed limits.b"});
}

TEST_CASE("a route is compared with the one of its name") {
    CHECK(
        found(routes_named({"a", "b"}), routes_named({"new", "a", "b"})) ==
        Texts{"added routes[0]"});
    CHECK(
        found(routes_named({"a", "b", "c"}), routes_named({"a", "c"})) ==
        Texts{"removed routes[1]"});
}

TEST_CASE("a route that is elsewhere among the others has moved") {
    CHECK(
        found(routes_named({"a", "b", "c"}), routes_named({"c", "a", "b"})) ==
        Texts{"moved routes[0]"});

    const auto changes = changes_between(
        loaded(routes_named({"a", "b", "c"})), loaded(routes_named({"b", "a", "c"})));
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].moved_from == 1);
}

TEST_CASE("what is below a moved route is told with its new position") {
    std::string next = routes_named({"b", "a"});
    next.replace(next.find("/b"), 2, "/x");
    CHECK(
        found(routes_named({"a", "b"}), next) ==
        Texts{"moved routes[0]", "changed routes[0].match.path"});
}

TEST_CASE("a list without maps is one value") {
    CHECK(
        found(
            with("trusted_proxies: [10.0.0.0/8]\nroutes: []\n"),
            with("trusted_proxies: [10.0.0.0/8, 10.1.0.0/16]\nroutes: []\n")) ==
        Texts{"changed trusted_proxies"});
}

TEST_CASE("the limits of a route are compared by their names, whatever their form") {
    const auto route = [](std::string_view limits) {
        return with(
            "limits: {a: {concurrent: 2}}\nroutes: [{name: r, upstream: shop, limits: [" +
            std::string{limits} + "]}]\n");
    };
    CHECK(
        found(route("a, {name: own, concurrent: 3}"), route("a, {name: own, concurrent: 4}")) ==
        Texts{"changed routes[0].limits[1].concurrent"});
    CHECK(
        found(
            route("a, {name: own, concurrent: 3}"),
            route("{limit: a, status: 503}, {name: own, concurrent: 3}")) ==
        Texts{"changed routes[0].limits[0]"});
}

TEST_CASE("a secret that has changed is a change, and is not shown") {
    const auto secret = [](std::string_view value) {
        return with(
            "routes: [{name: r, upstream: shop, request: {set_headers: {X-Key: " +
            std::string{value} + "}}}]\n");
    };
    const auto changes = changes_between(loaded(secret("one")), loaded(secret("two")));

    REQUIRE(changes.size() == 1);
    CHECK(path_text(changes[0].path) == "routes[0].request.set_headers.X-Key");
    CHECK(std::holds_alternative<Shown::Secret>(changes[0].former->value()));
    CHECK(std::holds_alternative<Shown::Secret>(number_of(changes[0]).value()));
    CHECK(found(secret("one"), secret("one")).empty());
}

TEST_CASE("when a change has effect is said by the row of its key") {
    CHECK(effect_of({"workers"}) == Reload::restart);
    CHECK(effect_of({"max_connections"}) == Reload::applies);
    CHECK(effect_of({"max_connections_per_client"}) == Reload::new_connections);
    CHECK(effect_of({"listeners", 1U}) == Reload::new_connections);
    CHECK(effect_of({"listeners", 1U, "mode"}) == Reload::applies);
    CHECK(effect_of({"listeners", 0U, "http2", "max_streams"}) == Reload::new_connections);
    CHECK(effect_of({"admin", "tls"}) == Reload::restart);
    CHECK(effect_of({"admin", "tls", "min_version"}) == Reload::new_connections);
    CHECK(effect_of({"admin", "read_only"}) == Reload::restart);
    CHECK(effect_of({"permits", "tls", "min_version"}) == Reload::new_connections);
    CHECK(effect_of({"limits", "workers", "requests"}) == Reload::applies);
    CHECK(effect_of({"limits", "a", "overrides", "workers", "requests"}) == Reload::applies);
}

TEST_CASE("the place of a change is that of its key, or of what is around it") {
    const std::string text = "listeners:\n"
                             "  - address: 127.0.0.1:8080\n"
                             "limits:\n"
                             "  a:   {requests: 1, per: 1s}\n"
                             "routes: []\n";
    Places places{text, "new.yaml"};

    CHECK(places.of({"limits", "a", "per"}) == "new.yaml:4:22");
    CHECK(places.of({"limits", "a", "burst"}) == "new.yaml:4:3");
    CHECK(places.of({"limits", "b"}) == "new.yaml:3:1");
    CHECK(places.of({"listeners", 0U, "address"}) == "new.yaml:2:5");
    CHECK(places.of({"listeners", 0U}) == "new.yaml:2:5");
    CHECK(places.of({"listeners", 1U}) == "new.yaml:1:1");
    CHECK(places.of({"limits", 0U}) == "new.yaml:3:1");
    CHECK(places.of({"workers"}) == "new.yaml:1:1");
}

TEST_CASE("the longest growing part grows, and none is longer") {
    std::mt19937 random{7};
    for (int round = 0; round < 300; ++round) {
        Numbers numbers(random() % 9);
        std::iota(numbers.begin(), numbers.end(), std::size_t{0});
        std::shuffle(numbers.begin(), numbers.end(), random);

        const std::vector<bool> chosen = longest_growing_part(numbers);

        REQUIRE(chosen.size() == numbers.size());
        CHECK(grows(numbers, chosen));
        CHECK(
            static_cast<std::size_t>(std::ranges::count(chosen, true)) ==
            longest_by_trying(numbers));
    }
}

} // namespace stint::config
