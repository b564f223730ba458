// What a configuration says about answers: the fields that tell of limits, and refusals.
#include "config_support.hpp"

namespace stint::config {

using namespace std::chrono_literals;

namespace {

using Fields = Headers::Fields;

std::string with(std::string_view lines) {
    return std::string{base} + std::string{lines};
}

// `rest` stands behind "  a: {requests: 1, per: 1s, " on line 4.
std::string limit_with(std::string_view rest) {
    return "limits:\n  a: {requests: 1, per: 1s, " + std::string{rest} + "}\nroutes: []\n";
}

} // namespace

TEST_CASE("a route's fields are its own, key by key, else those of the top") {
    const Config config = loaded(
        with("headers: {fields: both, legacy_prefix: RateLimit, legacy_reset: epoch}\n"
             "routes:\n"
             "  - {name: a, upstream: shop, match: {path: /a}}\n"
             "  - {name: b, upstream: shop, match: {path: /b}, headers: off}\n"
             "  - {name: c, upstream: shop, match: {path: /c}, headers: {legacy_reset: delta}}\n"));

    CHECK(config.headers.fields == Fields::both);
    CHECK(config.routes[0].headers.fields == Fields::both);
    CHECK(config.routes[0].headers.prefix == Headers::Prefix::ratelimit);
    CHECK(config.routes[0].headers.reset == Headers::Reset::epoch);
    CHECK(config.routes[1].headers.fields == Fields::off);
    CHECK(config.routes[2].headers.fields == Fields::both);
    CHECK(config.routes[2].headers.reset == Headers::Reset::delta);
}

TEST_CASE("no fields tell of limits by default") {
    CHECK(loaded(with(no_routes)).headers.fields == Fields::off);
}

TEST_CASE("a limit's answer to those that it refuses can be its own") {
    const Config config = loaded(
        with(limit_with("headers: draft, status: 503, retry_after_jitter: 5s, "
                        "body: {content_type: text/html, text: \"<p>{retry_after} {x: 1} {}\"}")));
    const Limit& limit = config.limits[0];

    CHECK(limit.headers == Fields::draft);
    CHECK(limit.status == 503);
    CHECK(limit.retry_after_jitter == 5s);
    REQUIRE(limit.body);
    CHECK(limit.body->content_type == "text/html");
    CHECK(limit.body->text == "<p>{retry_after} {x: 1} {}");
    const Config plain = loaded(with(limit_with("body: Later.")));
    CHECK(plain.limits[0].body->content_type == "text/plain; charset=utf-8");
    CHECK(plain.limits[0].body->text == "Later.");
    CHECK(plain.limits[0].status == 429);
}

TEST_CASE("a route may answer with its own status for a limit that it shares") {
    const Config config = loaded(
        with("limits: {a: {requests: 1, per: 1s}}\n"
             "routes:\n"
             "  - {name: a, upstream: shop, match: {path: /a}, limits: [a]}\n"
             "  - {name: b, upstream: shop, match: {path: /b}, limits: [{limit: a, status: 503}]}\n"
             "  - {name: c, upstream: shop, match: {path: /c}, limits: [{limit: a}]}\n"));

    CHECK(config.limits.size() == 1);
    CHECK(config.limits[0].status == 429);
    for (const Route& route : config.routes)
        CHECK(route.limits == std::vector<std::size_t>{0});
    CHECK(config.routes[0].statuses.empty());
    CHECK(config.routes[1].statuses == std::map<std::size_t, int>{{0, 503}});
    CHECK(config.routes[2].statuses.empty());
}

TEST_CASE("a wrong reference to a limit is a mistake") {
    const auto check = [](std::string_view item, std::initializer_list<std::string_view> mistakes) {
        check_added(
            "limits: {a: {requests: 1, per: 1s}}\nroutes: [{name: r, upstream: shop, limits: [" +
                std::string{item} + "]}]\n",
            mistakes);
    };
    check("{limit: b}", {"4:53: routes[0].limits[0].limit: \"b\" is not a limit; expected a"});
    check(
        "{limit: a, status: 302}", {"4:64: routes[0].limits[0].status: \"302\" is too small; "
                                    "expected a whole number from 400 to 599"});
    check("{limit: a, status: 600}", {"4:64: routes[0].limits[0].status: \"600\" is too large"});
    check(
        "{limit: a, requests: 1}",
        {"4:56: routes[0].limits[0].requests: unknown key; expected limit or status"});
    check("{limit: [a]}", {"4:53: routes[0].limits[0].limit: found a list; expected a limit's"});
    check(
        "{limit: a}, {limit: a, status: 503}",
        {"4:57: routes[0].limits[1]: \"a\" is listed already"});
    check(
        "{lock: a, status: 503}",
        {"4:52: routes[0].limits[0].lock: \"a\" is not a lock; none is defined",
         "4:55: routes[0].limits[0].status: unknown key; expected lock"});
}

TEST_CASE("wrong fields are mistakes") {
    check_added(
        "headers: on\nroutes: []\n", {"3:10: headers: \"on\" is unknown; expected off, draft"});
    check_added(
        "headers: drafts\nroutes: []\n",
        {"3:10: headers: \"drafts\" is unknown; did you mean \"draft\""});
    check_added(
        "headers: {fields: [], legacy_prefix: X, legacy_reset: unix, more: 1}\nroutes: []\n",
        {"3:19: headers.fields: found a list; expected off, draft, legacy or both",
         "3:38: headers.legacy_prefix: \"X\" is unknown; expected X-RateLimit or RateLimit",
         "3:55: headers.legacy_reset: \"unix\" is unknown; expected delta or epoch",
         "3:61: headers.more: unknown key"});
    check_added(
        limit_with("headers: {fields: draft}"),
        {"4:38: limits.a.headers: found a map; expected off"});
}

TEST_CASE("wrong answers to the refused are mistakes") {
    check_added(limit_with("status: 302"), {"4:37: limits.a.status: \"302\" is too small"});
    check_added(limit_with("status: 600"), {"4:37: limits.a.status: \"600\" is too large"});
    check_added(limit_with("retry_after_jitter: 5"), {"4:49: \"5\" has no unit"});
    check_added(limit_with("retry_after_jitter: 0s"), {"4:49: \"0s\" is zero"});
    check_added(
        limit_with("body: {text: a, content_type: html}"),
        {"4:59: limits.a.body.content_type: \"html\" is not a content type; expected one such as"});
    check_added(limit_with("body: {content_type: text/html}"), {"4:35: text is missing"});
    check_added(
        limit_with("body: 'in {retry_afer} s'"),
        {"4:35: limits.a.body: {retry_afer} is no placeholder; did you mean \"{retry_after}\"?"});
    check_added(
        limit_with("body: " + std::string(16 * 1024 + 1, 'x')), {"4:35: longer than 16 KiB"});
}

} // namespace stint::config
