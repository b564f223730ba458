// Logs of nginx and HAProxy through the whole simulation.
#include "fixture.hpp"
#include "simulate/simulate.hpp"

#include <doctest/doctest.h>

#include <random>
#include <sstream>

using namespace stint;
using namespace stint::simulate;
using namespace stint::simulate::test;

namespace {

std::string yaml_with(const std::string& limits, const std::string& match = "path: /") {
    return "listeners: [{address: 127.0.0.1:8080}]\n"
           "upstreams: {up: {endpoints: [127.0.0.1:9000]}}\n"
           "routes: [{name: all, match: {" +
           match + "}, upstream: up, limits: " + limits + "}]\n";
}

std::string nginx_line(int second, const std::string& more = "200 5 \"-\" \"-\"") {
    return "192.0.2.1 - - [21/Nov/2026:12:00:0" + std::to_string(second) +
           " +0000] \"GET / HTTP/1.1\" " + more + "\n";
}

std::string haproxy_line(int ms, const std::string& captured = "") {
    return "192.0.2.1:5 [21/Nov/2026:12:00:00." + std::to_string(ms) +
           "] web app/one 0/0/0/0/200 200 5 - - ---- 1/1/1/1/0 0/0 " + captured +
           "\"GET / HTTP/1.1\"\n";
}

Json replayed(const std::string& config, const std::string& log, const LogOptions& how = {}) {
    const Folder folder;
    Options options;
    options.config = folder.write("new.yaml", config);
    options.logs = {folder.write("access.log", log)};
    options.json = true;
    options.log = how;
    std::ostringstream out;
    std::ostringstream errors;
    const Ending ending = run(options, out, errors);
    CAPTURE(errors.str());
    REQUIRE(ending == Ending::replayed);
    return Json::parse(out.str());
}

bool notes_have(const Json& found, const std::string& text) {
    return found["log"]["notes"].dump().find(text) != std::string::npos;
}

} // namespace

TEST_CASE("nginx's requests of a second are spread over it") {
    std::string log;
    for (int i = 0; i < 5; ++i)
        log += nginx_line(0);
    const Json found = replayed(yaml_with("[{name: k, requests: 1, per: 300ms}]"), log);

    CHECK(found["configuration"]["refused"] == 2); // at 0, 200, 400, 600 and 800 ms
    CHECK(found["log"]["to"] == "2026-11-21T12:00:00.800Z");
    CHECK(notes_have(found, "spread evenly"));
}

TEST_CASE("nginx's lines of the next second are not spread over the one before") {
    const Json found = replayed(
        yaml_with("[{name: k, requests: 2, per: 1s}]"),
        nginx_line(0) + nginx_line(1) + nginx_line(1));

    CHECK(found["log"]["to"] == "2026-11-21T12:00:01.500Z");
    CHECK(found["log"]["from"] == "2026-11-21T12:00:00.000Z");
}

TEST_CASE("what happened by a foreign log is its 429s, on no other route") {
    const Json found = replayed(
        yaml_with("[{name: k, requests: 1, per: 1m}]"),
        nginx_line(0) + nginx_line(1) + nginx_line(2, "429 0"));

    CHECK(found["configuration"]["refused"] == 2);
    CHECK(found["against"]["refused"] == 1);
    CHECK(found["against"]["no_route"] == 0);
    CHECK(found["difference"]["newly_refused"] == 1);
    CHECK(found["difference"]["other_route"] == 0);
}

TEST_CASE("HAProxy's requests hold their slots, nginx's do not and it is said") {
    const std::string cap = yaml_with("[{name: cap, concurrent: 1}]");

    const Json haproxy = replayed(cap, haproxy_line(100) + haproxy_line(250) + haproxy_line(300));
    CHECK(haproxy["configuration"]["refused"] == 1); // at 250 ms, until which 300 ms is no matter
    CHECK(notes_have(haproxy, "no time zone"));
    CHECK_FALSE(notes_have(haproxy, "the duration"));

    const Json nginx = replayed(cap, nginx_line(0) + nginx_line(0));
    CHECK(nginx["configuration"]["refused"] == 0);
    CHECK(notes_have(nginx, "the duration of 2 requests"));
}

TEST_CASE("a field that a foreign log does not tell leaves its limit out") {
    const auto left_out = [](const std::string& key, const std::string& log,
                             const LogOptions& how = {}) {
        return replayed(
            yaml_with("[{name: k, requests: 1, per: 1m, key: \"" + key + "\"}]"), log,
            how)["configuration"]["field_not_in_log"];
    };
    const Json both{{"k", 2}};

    CHECK(left_out("header:X-Key", nginx_line(0) + nginx_line(0)) == both);
    CHECK(left_out("header:User-Agent", nginx_line(0) + nginx_line(0)).empty());
    CHECK(left_out("header:User-Agent", nginx_line(0, "200 5") + nginx_line(0, "200 5")) == both);
    CHECK(left_out("host", nginx_line(0) + nginx_line(0)) == both);
    CHECK(left_out("host", nginx_line(0), {.host = "a.example"}).empty());
    CHECK(left_out("host", line(0s, {{"host", nullptr}})).empty());
    const std::string captured = haproxy_line(100, "{a} ") + haproxy_line(200, "{} ");
    CHECK(left_out("header:X-Key", captured) == both);
    CHECK(left_out("header:X-Key", captured, {.captured = {"x-key"}}).empty());
}

TEST_CASE("a route of a host takes a foreign log's requests once they have one") {
    const std::string config = yaml_with("[{name: k, requests: 1, per: 1m}]", "host: a.example");

    const Json without = replayed(config, nginx_line(0));
    CHECK(without["configuration"]["no_route"] == 1);
    CHECK(notes_have(without, "the Host of 1 requests"));
    CHECK(replayed(config, nginx_line(0), {.host = "a.example"})["configuration"]["admitted"] == 1);
}

TEST_CASE("each line's format is recognised, and Stint's alone needs no note") {
    const std::string config = yaml_with("[{name: k, requests: 1, per: 1m}]");
    std::string mixed{"\n"};
    mixed += nginx_line(0) + line(1s) + haproxy_line(100) + nginx_line(2);
    mixed += "junk\n";

    const Json found = replayed(config, mixed);
    CHECK(found["log"]["requests"] == 4);
    CHECK(found["log"]["malformed"] == 2);
    CHECK(notes_have(
        found, "2 requests are from lines in nginx's format, 1 in HAProxy's, 1 in Stint's"));
    CHECK(replayed(config, line(0s))["log"]["notes"].empty());

    const Json forced = replayed(config, mixed, {.format = LogFormat::haproxy});
    CHECK(forced["log"]["requests"] == 1);
    CHECK(forced["log"]["malformed"] == 5);
}

TEST_CASE("lines with bytes changed, lost and doubled at random are read or counted") {
    const LineParser parser{{.captured = {"host", "user-agent"}, .host = "a.example"}};
    const std::vector<std::string> seeds{
        nginx_line(1, R"(200 5 "\x22a" "b\"c" "d" rt=0.123 -)"),
        haproxy_line(123, "{a|b #41} {c} "), line(0s)};
    std::mt19937 chance{2026};
    std::size_t read = 0;
    for (int round = 0; round < 30'000; ++round) {
        std::string text = seeds[chance() % seeds.size()];
        for (unsigned changes = chance() % 4; changes > 0 && !text.empty(); --changes) {
            const std::size_t at = chance() % text.size();
            switch (chance() % 4) {
            case 0:
                text[at] = static_cast<char>(chance());
                break;
            case 1:
                text.erase(at, 1 + chance() % 9);
                break;
            case 2:
                text.insert(at, text.substr(at, chance() % 20));
                break;
            default:
                text.resize(at);
            }
        }
        std::optional<LogFormat> expected;
        if (const auto request = parser.parse(text, expected)) {
            ++read;
            CHECK(request->duration >= Duration::zero());
            CHECK(expected == request->format);
        } else {
            CHECK_FALSE(request.error().empty());
        }
    }
    CHECK(read > 10'000);
}
