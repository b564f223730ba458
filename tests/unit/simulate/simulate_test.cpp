#include "fixture.hpp"
#include "simulate/simulate.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace stint;
using namespace stint::simulate;
using namespace stint::simulate::test;

namespace {

// One route `all`, with these limits.
std::string yaml(const std::string& limits, const std::string& path = "/") {
    return "listeners: [{address: 127.0.0.1:8080}]\n"
           "upstreams: {up: {endpoints: [127.0.0.1:9000]}}\n"
           "routes: [{name: all, match: {path: " +
           path + "}, upstream: up, limits: " + limits + "}]\n";
}

const char* const two_a_minute = "[{name: two, requests: 2, per: 1m}]";

struct Outcome {
    Ending ending;
    std::string text;
    std::string errors;
    [[nodiscard]] Json json() const { return Json::parse(text); }
};

Outcome simulated(const Options& options) {
    std::ostringstream out;
    std::ostringstream errors;
    const Ending ending = run(options, out, errors);
    return {ending, out.str(), errors.str()};
}

Json report(const std::string& config, const std::string& log, const std::string& against = "") {
    const Folder folder;
    Options options;
    options.config = folder.write("new.yaml", config);
    options.logs = {folder.write("access.log", log)};
    options.json = true;
    if (!against.empty())
        options.against = folder.write("old.yaml", against);
    const Outcome outcome = simulated(options);
    CAPTURE(outcome.errors);
    REQUIRE(outcome.ending == Ending::replayed);
    return outcome.json();
}

} // namespace

TEST_CASE("a window refuses in the log's time") {
    const Json found = report(
        yaml(two_a_minute), line(0s) + line(1s) + line(59s) + line(60s) + line(61s) + line(62s));

    CHECK(found["log"]["requests"] == 6);
    CHECK(found["log"]["from"] == "2026-11-21T12:00:00.000Z");
    CHECK(found["log"]["to"] == "2026-11-21T12:01:02.000Z");
    CHECK(found["configuration"]["admitted"] == 4);
    CHECK(found["configuration"]["refused"] == 2);
    CHECK(found["configuration"]["routes"][0]["refused_by"] == Json{{"two", 2}});
    CHECK(found["difference"]["newly_refused"] == 2);
}

TEST_CASE("a request waits in the log's time, and its slot is held for the time after that") {
    const auto waited = [](Duration start, double ms, double of_these) {
        return line(start, {{"duration_ms", ms}, {"waited_ms", of_these}});
    };
    const Json found = report(
        yaml("[{name: one, concurrent: 1, when_exceeded: wait, max_wait: 250ms}]"),
        waited(0s, 100, 0) + waited(1ms, 199, 99) + waited(2ms, 298, 198) + waited(3ms, 2, 0));

    CHECK(found["configuration"]["admitted"] == 3);
    CHECK(found["configuration"]["refused"] == 1);
    CHECK(found["configuration"]["waited"] == 3);
    CHECK(found["configuration"]["longest_wait_ms"] == 250);
}

TEST_CASE(
    "a window that opens lets a simulated waiter go, and one that waits at the log's end, too") {
    const Json found = report(
        yaml("[{name: one, requests: 1, per: 1m, when_exceeded: wait, max_wait: 3m}]"),
        line(0s) + line(1s) + line(2s) + line(3s) + line(4s));

    CHECK(found["configuration"]["admitted"] == 4);
    CHECK(found["configuration"]["refused"] == 1); // it would wait for more than three minutes
    CHECK(found["configuration"]["longest_wait_ms"] == 177000);
    CHECK(found["difference"]["newly_refused"] == 1);
}

TEST_CASE("slots in coming windows are given in the log's time, and claimed by their keys") {
    const auto by = [](Duration start, const char* who) {
        return line(start, {{"fields", {{"x-me", who}}}});
    };
    const Json found = report(
        yaml("[{name: one, requests: 1, per: 1m, retry_after: reserve, reserve_for: header:X-Me}]"),
        by(0s, "a") + by(1s, "b") + by(60s, "c") + by(61s, "b"));

    CHECK(found["configuration"]["admitted"] == 2); // a, and b, who has the slot that c asks for
    CHECK(found["configuration"]["refused"] == 2);
}

TEST_CASE("a slot of a cap is held as long as the log says") {
    const auto lasting = [](Duration start, double ms) {
        return line(start, {{"duration_ms", ms}});
    };
    const std::string log = lasting(0s, 1000) + lasting(500ms, 100) + lasting(999ms, 1) +
                            lasting(1000ms, 1) + lasting(1001ms, 1);

    const Json found = report(yaml("[{name: one, concurrent: 1}]"), log);

    CHECK(found["configuration"]["admitted"] == 3);
    CHECK(found["configuration"]["refused"] == 2);
    CHECK(found["unknown_ends"] == 0);
}

TEST_CASE("keys are counted apart and the most refused are named") {
    std::string log;
    for (int i = 0; i < 5; ++i)
        log += line(1s * i, {{"client", "2001:db8::1"}}) + line(1s * i);

    const Json found = report(yaml("[{name: k, requests: 3, per: 1m, key: client_ip}]"), log);

    CHECK(found["configuration"]["refused"] == 4);
    const Json keys = found["configuration"]["most_refused_keys"]["k"];
    REQUIRE(keys.size() == 2);
    CHECK(keys[0]["refused"] == 2);
    CHECK(keys[0]["at_most_over_by"] == 0);
}

TEST_CASE(
    "requests without a key are among the most refused, those of a limit without keys are not") {
    const std::string config = yaml("[{name: k, requests: 1, per: 1m, key: \"query:key\"}, "
                                    "{name: all, requests: 4, per: 1m}]");
    const std::string log = line(0s) + line(1s) + line(2s) + line(3s, {{"path", "/?key=a"}}) +
                            line(4s, {{"path", "/?key=a"}}) + line(5s, {{"path", "/?key=b"}}) +
                            line(6s, {{"path", "/?key=c"}}) + line(7s, {{"path", "/?key=d"}});

    const Json keys = report(config, log)["configuration"]["most_refused_keys"];

    CHECK_FALSE(keys.contains("all"));
    REQUIRE(keys["k"].size() == 2);
    CHECK(keys["k"][0]["key"] == "");
    CHECK(keys["k"][0]["refused"] == 2);
    CHECK(keys["k"][1]["key"] == "a");

    const Json refusing = report(
        yaml("[{name: k, requests: 1, per: 1m, key: \"query:key\", missing_key: refuse, deny: "
             "[b]}]"),
        log)["configuration"]["most_refused_keys"]["k"];
    REQUIRE(refusing.size() == 3);
    CHECK(refusing[0]["key"] == "");
    CHECK(refusing[0]["refused"] == 3);
}

TEST_CASE("a limit whose key is not in the log is left out and reported") {
    const std::string config = yaml("[{name: k, requests: 1, per: 1m, key: \"header:X-Key\"}]");
    const Json with_key{{"fields", {{"x-key", "a"}}}};
    const std::string log = line(0s) + line(1s) + line(2s, with_key) + line(3s, with_key);

    const Json found = report(config, log);

    CHECK(found["configuration"]["field_not_in_log"] == Json{{"k", 2}});
    CHECK(found["configuration"]["refused"] == 1);
    CHECK(found["configuration"]["most_refused_keys"]["k"][0]["key"] == "a");
}

TEST_CASE("a limit whose queue or slots go by a field that is not in the log is left out, too") {
    const Json with_key{{"fields", {{"x-key", "a"}}}};
    const std::string log = line(0s) + line(1s, with_key) + line(2s, with_key);
    const std::string queued =
        "{name: k, requests: 1, per: 1m, when_exceeded: wait, fair_by: \"header:X-Key\"}";
    const std::string reserving =
        "{name: k, requests: 1, per: 1m, retry_after: reserve, reserve_for: \"header:X-Key\"}";
    for (const std::string& limit : {queued, reserving}) {
        CAPTURE(limit);
        const Json found = report(yaml("[" + limit + "]"), log);
        CHECK(found["configuration"]["field_not_in_log"] == Json{{"k", 1}});
        CHECK(found["configuration"]["refused"] == 1);
    }
}

TEST_CASE("what the log's status says did not count is given back") {
    const Json failed{{"status", 502}, {"decision", "upstream_failed"}, {"duration_ms", 10}};
    const std::string log = line(0s, failed) + line(1s) + line(2s) + line(3s);

    const Json found = report(yaml("[{name: w, requests: 2, per: 1m, refund: [502]}]"), log);

    CHECK(found["configuration"]["admitted"] == 3);
    CHECK(found["configuration"]["refused"] == 1);
}

TEST_CASE("a field that the log is said to carry is missing where it is not") {
    const Folder folder;
    Options options;
    options.config =
        folder.write("new.yaml", yaml("[{name: k, requests: 1, per: 1m, key: \"header:X-Key\"}]"));
    options.logs = {folder.write("access.log", line(0s) + line(1s))};
    options.json = true;
    options.logged = {"x-key"};

    const Json found = simulated(options).json();

    CHECK(found["configuration"]["field_not_in_log"].empty());
    CHECK(found["configuration"]["refused"] == 1);
}

TEST_CASE("two configurations are compared by limit") {
    std::string log;
    for (int i = 0; i < 5; ++i)
        log += line(1s * i);

    const Json found = report(
        yaml("[{name: tight, requests: 1, per: 2s}]"), log,
        yaml("[{name: loose, requests: 4, per: 1m}]"));

    // tight admits at 0, 2 and 4 s; loose all but the one at 4 s.
    CHECK(found["configuration"]["admitted"] == 3);
    CHECK(found["against"]["admitted"] == 4);
    CHECK(found["difference"]["newly_refused"] == 2);
    CHECK(found["difference"]["newly_admitted"] == 1);
    CHECK(found["difference"]["by_limit"].size() == 2);
}

TEST_CASE("what the log refused is compared with when there is no other configuration") {
    const Json refused{
        {"decision", "refused"}, {"status", 429}, {"limit", "old"}, {"duration_ms", 0.1}};
    const std::string log = line(0s) + line(1s, refused) + line(2s);

    const Json found = report(yaml("[{name: cap, concurrent: 1}]"), log);

    CHECK(found["against"]["file"] == nullptr);
    CHECK(found["against"]["refused"] == 1);
    CHECK(found["difference"]["newly_admitted"] == 1);
    CHECK(found["unknown_ends"] == 1);
}

TEST_CASE("a request that no route takes is not counted against any limit") {
    const Json found = report(
        yaml(two_a_minute, "/a"),
        line(0s) + line(1s, {{"path", "/%61/b"}}) + line(2s, {{"method", nullptr}}));

    CHECK(found["configuration"]["no_route"] == 1);
    CHECK(found["configuration"]["admitted"] == 1);
    CHECK(found["difference"]["other_route"] == 1);
    CHECK(found["log"]["rejected_before_routing"] == 1);
}

TEST_CASE("the table for people tells the same") {
    const Folder folder;
    Options options;
    options.config =
        folder.write("new.yaml", yaml("[{name: k, requests: 1, per: 1m, key: client_ip}]"));
    options.logs = {folder.write("access.log", line(0s) + line(1s) + "garbage\x1b[31m\n")};

    const Outcome outcome = simulated(options);

    CHECK(outcome.ending == Ending::replayed);
    CHECK(outcome.text.find("2 requests in 3 lines") != std::string::npos);
    CHECK(outcome.text.find("1 newly refused, 0 newly admitted") != std::string::npos);
    CHECK(outcome.text.find("192.0.2.1") != std::string::npos);
    CHECK(outcome.text.find("access.log:3: not a JSON object") != std::string::npos);
    CHECK(outcome.text.find('\x1b') == std::string::npos);
}

TEST_CASE("what cannot be replayed ends with a reason") {
    const Folder folder;
    Options options;
    options.config = folder.write("new.yaml", yaml(two_a_minute));
    options.logs = {folder.write("access.log", "one\ntwo\n")};

    Outcome outcome = simulated(options);
    CHECK(outcome.ending == Ending::unreadable_log);
    CHECK(outcome.errors.find("access.log:1: not a line of Stint's JSON") != std::string::npos);
    CHECK(outcome.text.empty());

    options.logs = {"/nonexistent"};
    CHECK(simulated(options).ending == Ending::unreadable_log);

    options.against = folder.write("bad.yaml", "routes: 7\n");
    outcome = simulated(options);
    CHECK(outcome.ending == Ending::bad_configuration);
    CHECK(outcome.errors.find("bad.yaml:1:") != std::string::npos);

    options.against.reset();
    options.logs = {folder.write("empty.log", "")};
    CHECK(simulated(options).ending == Ending::replayed);
}
