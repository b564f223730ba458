#include "config/load.hpp"
#include "runtime/config_notes.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace stint;

namespace {

using Notes = std::vector<std::string>;

constexpr std::string_view head = "listeners: [{address: 127.0.0.1:1}]\n"
                                  "upstreams: {u: {endpoints: [http://127.0.0.1:2]}}\n";

Notes config_notes_on(std::string_view rest) {
    const auto config = config::load_text(std::string{head}.append(rest), "test");
    REQUIRE_MESSAGE(config.has_value(), (config ? "" : config.error().front().text()));
    return runtime::config_notes(*config);
}

Notes config_notes_on_route(std::string_view members) {
    return config_notes_on("routes: [{name: r, upstream: u, " + std::string{members} + "}]\n");
}

} // namespace

TEST_CASE("an ordinary configuration has no notes") {
    CHECK(
        config_notes_on("limits: {n: {requests: 1, per: 1s, key: client_ip}}\n"
                        "state: {file: state.db}\n"
                        "routes: [{name: r, upstream: u, match: {path: /a, host: \"*.shop.test\"}, "
                        "limits: [n]}]\n") == Notes{});
}

TEST_CASE("a limit and an upstream that no route uses are named") {
    CHECK(
        config_notes_on("limits: {n: {requests: 1, per: 1s}, cap: {concurrent: 1}}\n"
                        "routes: [{name: r, respond: {status: 204}}]\n") ==
        Notes{
            "the limit n is used by no route", "the limit cap is used by no route",
            "the upstream u is used by no route"});
}

TEST_CASE("a variable in the key of an override is literal") {
    CHECK(
        config_notes_on("limits: {n: {requests: 1, per: 1s, key: \"header:k\", overrides: "
                        "{\"${KEY}\": {requests: 2}, \"$other\": {requests: 2}}}}\n"
                        "routes: [{name: r, upstream: u, limits: [n]}]\n") ==
        Notes{
            "the limit n has an override of the key ${KEY} as it is written: variables are filled "
            "in in values alone"});
}

TEST_CASE("a permit listener uses the windows, and a lock needs no route") {
    CHECK(
        config_notes_on("permits: {address: 127.0.0.1:3}\n"
                        "limits: {n: {requests: 1, per: 1s}, cap: {concurrent: 1}}\n"
                        "locks: {l: {}}\n"
                        "routes: [{name: r, upstream: u}]\n") ==
        Notes{"the limit cap is used by no route"});
}

TEST_CASE("a star in a path is literal") {
    CHECK(
        config_notes_on_route("match: {path: \"/api/*\"}") ==
        Notes{"the route r matches a literal \"*\" in /api/*: path is a prefix, write /api/"});
    CHECK(
        config_notes_on_route("match: {path_exact: \"/a*b\"}") ==
        Notes{"the route r matches a literal \"*\" in /a*b: for a pattern use path_regex"});
    CHECK(config_notes_on_route("match: {path_regex: \"/a.*\"}") == Notes{});
}

TEST_CASE("a variable as nginx spells it is sent as it is written") {
    for (const std::string_view value : {"$remote_addr", "a $host", "x$$_y"}) {
        CAPTURE(value);
        const Notes notes =
            config_notes_on_route("request: {set_headers: {X-A: \"" + std::string{value} + "\"}}");
        REQUIRE(notes.size() == 1);
        CHECK(notes[0].starts_with("the route r sends the \"$\" in X-A as it is written"));
    }
    CHECK(config_notes_on_route("response: {set_headers: {X-A: \"5$ and $5, $\"}}") == Notes{});
}

TEST_CASE("no note prints a value that may be a secret") {
    const auto notes_with = [](std::string_view value) {
        const auto config = config::load_text(
            std::string{head} +
                "routes: [{name: r, upstream: u, request: {set_headers: {Authorization: \"" +
                std::string{value} + "\"}}}]\n",
            "test", [](std::string_view) { return std::optional<std::string>{"pa$word1"}; });
        REQUIRE(config.has_value());
        return runtime::config_notes(*config);
    };
    CHECK(notes_with("Bearer ${TOKEN}") == Notes{});
    const Notes notes = notes_with("$x ${TOKEN} pa$word2");
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].find("word") == std::string::npos);
}

TEST_CASE("a folder that does not exist is named") {
    CHECK(
        config_notes_on("access_log: {path: /nowhere/at/all/access.log}\n"
                        "state: {file: /nowhere/else/state.db}\n"
                        "routes: [{name: r, upstream: u}]\n") ==
        Notes{
            "the folder of access_log does not exist: /nowhere/at/all",
            "the folder of state does not exist: /nowhere/else"});
}

TEST_CASE("a key of several sources of which one may be missing is named, unless missing_key says "
          "otherwise") {
    const auto notes_on_key = [](std::string_view limit) {
        return config_notes_on(
            "limits: {n: {requests: 1, per: 1s, " + std::string{limit} +
            "}}\nroutes: [{name: r, upstream: u, limits: [n]}]\n");
    };
    CHECK(
        notes_on_key("key: [client_ip, \"header:X-Api-Key\"]") ==
        Notes{"the limit n counts all requests without header:x-api-key together, whatever the "
              "other parts of their keys; missing_key: partial counts by the other parts"});
    CHECK(notes_on_key("key: [client_ip, \"header:X-Api-Key\"], missing_key: refuse") == Notes{});
    CHECK(notes_on_key("key: [client_ip, \"header:X-Api-Key\"], missing_key: partial") == Notes{});
    CHECK(notes_on_key("key: [client_ip, host, path]") == Notes{});
    CHECK(notes_on_key("key: \"header:X-Api-Key\"") == Notes{});
}
