#include "admin/dry_run.hpp"
#include "config/load.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace stint;
using namespace stint::admin;

namespace {

const std::string former = "listeners:\n"
                           "  - address: 127.0.0.1:1\n"
                           "upstreams: {u: {endpoints: [127.0.0.1:9000]}}\n"
                           "limits:\n"
                           "  a: {requests: 1, per: 1s}\n"
                           "  b: {concurrent: 1}\n"
                           "routes:\n"
                           "  - {name: x, match: {path: /x}, upstream: u}\n"
                           "  - {name: y, match: {path: /y}, upstream: u}\n";

config::Config load(const std::string& yaml) {
    auto config = config::load_text(yaml, "s.yaml");
    if (!config)
        throw std::runtime_error{config.error().front().text()};
    return std::move(*config);
}

Json run(const std::string& next) {
    return dry_run_json(
        {.errors = {}, .next = load(next), .text = next, .notes = {"a note"}}, load(former),
        "s.yaml", 7);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
}

} // namespace

TEST_CASE("a dry run of the configuration in force says that nothing changes") {
    const Json json = run(former);

    CHECK(json["dry_run"] == true);
    CHECK(json["would_reload"] == true);
    CHECK(json["generation"] == 7);
    CHECK(json["errors"] == Json::array());
    CHECK(json["notes"] == Json::array({"a note"}));
    CHECK(json["changes"] == Json::array());
    CHECK(
        json["counters"] ==
        Json{{"kept", {"a", "b"}}, {"begin_anew", Json::array()}, {"ended", Json::array()}});
}

TEST_CASE("a dry run that fails has its errors, and says nothing of changes") {
    const Json json =
        dry_run_json({.errors = {{"s.yaml:1:2: bad", "s.yaml:1:2"}}}, load(former), "s.yaml", 7);

    CHECK(
        json == Json{
                    {"dry_run", true},
                    {"would_reload", false},
                    {"generation", 7},
                    {"errors", {"s.yaml:1:2: bad"}}});
}

TEST_CASE("a change has its place, its values and its effect") {
    CHECK(
        run(with(former, "per: 1s", "per: 2s"))["changes"] == Json::array({Json{
                                                                  {"path", "limits.a.per"},
                                                                  {"place", "s.yaml:5:20"},
                                                                  {"change", "changed"},
                                                                  {"former", "1s"},
                                                                  {"next", "2s"},
                                                                  {"effect", "at_once"}}}));
}

TEST_CASE("what is removed has no place, and what has moved says from where") {
    const Json removed = run(with(former, "  b: {concurrent: 1}\n", ""))["changes"][0];
    CHECK(removed["path"] == "limits.b");
    CHECK(removed["change"] == "removed");
    CHECK_FALSE(removed.contains("place"));
    CHECK_FALSE(removed.contains("next"));
    CHECK(removed["former"]["concurrent"] == 1);

    const std::string x = "  - {name: x, match: {path: /x}, upstream: u}\n";
    CHECK(
        run(with(former, x, "") + x)["changes"] == Json::array({Json{
                                                       {"path", "routes[0]"},
                                                       {"place", "s.yaml:8:5"},
                                                       {"change", "moved"},
                                                       {"from", 1},
                                                       {"effect", "at_once"}}}));
}

TEST_CASE("a secret is not told") {
    const Json json = run(with(
        former, "endpoints: [127.0.0.1:9000]",
        "endpoints: [127.0.0.1:9000], request: {set_headers: {X-Key: s3cret}}"));

    CHECK(json.dump().find("s3cret") == std::string::npos);
    CHECK(json["changes"][0]["next"]["set_headers"]["X-Key"] == "(hidden)");
}
