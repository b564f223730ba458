// Which requests are sent once more: on an upstream, and on a route.
#include "config_support.hpp"

namespace stint::config {

namespace {

std::string route_with(std::string_view settings, std::string_view of_upstream = "host: h") {
    return "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {u: {endpoints: [a:1], " +
           std::string{of_upstream} + "}}\nroutes:\n- {name: r, upstream: u, " +
           std::string{settings} + "}\n";
}

Retry loaded_retry(std::string_view retry) {
    const Config config = loaded(route_with("retry: " + std::string{retry}));
    return config.routes.at(0).retry.value();
}

// The value begins in column 33 of line 4.
void check_wrong(
    std::string_view retry,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_mistakes(route_with("retry: " + std::string{retry}), expected, at);
}

} // namespace

TEST_CASE("nothing is sent once more unless it is said") {
    const Config config = loaded(route_with("max_body: 1KiB"));

    CHECK_FALSE(config.upstreams.at(0).retry);
    CHECK_FALSE(config.routes.at(0).retry);
}

TEST_CASE("retry: on, or a map, stands for what is usual") {
    std::string_view retry;
    SUBCASE("on") {
        retry = "on";
    }
    SUBCASE("an empty map") {
        retry = "{}";
    }
    SUBCASE("the defaults in words") {
        retry = "{on: [connect, reset, 502, 503, 504], attempts: 2, budget: 20%, "
                "methods: [GET, HEAD, OPTIONS, PUT, DELETE, TRACE]}";
    }
    const Retry read = loaded_retry(retry);

    CHECK(read.on);
    CHECK(read.connect);
    CHECK(read.reset);
    CHECK(read.statuses == std::vector<std::uint16_t>{502, 503, 504});
    CHECK(read.attempts == 2);
    CHECK(read.budget == 20);
    CHECK(
        read.methods ==
        std::vector<std::string>{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"});
}

TEST_CASE("every key of retry is read") {
    const Retry read =
        loaded_retry("{on: [500, reset], attempts: 10, budget: 100%, methods: [POST]}");

    CHECK_FALSE(read.connect);
    CHECK(read.reset);
    CHECK(read.statuses == std::vector<std::uint16_t>{500});
    CHECK(read.attempts == 10);
    CHECK(read.budget == 100);
    CHECK(read.methods == std::vector<std::string>{"POST"});
}

TEST_CASE("an upstream and its routes say it each for itself") {
    const Config config = loaded(route_with("retry: off", "retry: {attempts: 3}"));

    REQUIRE(config.upstreams.at(0).retry);
    CHECK(config.upstreams.at(0).retry->attempts == 3);
    REQUIRE(config.routes.at(0).retry);
    CHECK_FALSE(config.routes.at(0).retry->on);
}

TEST_CASE("mistakes in retry say where and what") {
    check_wrong("always", {"4:33: \"always\" is unknown"});
    check_wrong("[503]", {"4:33: routes[0].retry: "});
    check_wrong("{attempt: 3}", {"4:34: "});
    check_wrong(
        "{attempts: 1}", {"4:44: \"1\" is too small; expected a whole number from 2 to 10"});
    check_wrong("{attempts: 11}", {"4:44: is too large"});
    check_wrong("{attempts: two}", {"4:44: routes[0].retry.attempts: \"two\""});
    check_wrong("{budget: 20}", {"4:42: \"20\" is no share; expected one from 1% to 100%"});
    check_wrong("{budget: 0%}", {"4:42: \"0%\" is no share"});
    check_wrong("{budget: 101%}", {"4:42: \"101%\" is no share"});
    check_wrong("{on: connect}", {"4:38: routes[0].retry.on: "});
    check_wrong("{on: []}", {"4:38: is empty; expected connect, reset or a status"});
    check_wrong("{on: [429]}", {"4:39: \"429\" is nothing to retry on; expected connect, reset"});
    check_wrong("{on: [timeout]}", {"4:39: \"timeout\" is nothing to retry on"});
    check_wrong("{on: [reset, 503, 503]}", {"4:51: \"503\" is listed already"});
    check_wrong("{on: [reset, reset]}", {"4:46: \"reset\" is listed already"});
    check_wrong("{methods: []}", {"4:43: is empty; leave methods out"});
    check_wrong("{methods: [get]}", {"4:44: \"get\" is not a method"});
    check_wrong("{methods: [GET, GET]}", {"4:49: \"GET\" is listed already"});
}

} // namespace stint::config
