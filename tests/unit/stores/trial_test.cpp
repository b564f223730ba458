// Trials of stores: with real servers, and their words alone.
#include "fixture.hpp"
#include "stores/trial.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint;
using namespace stint::stores;
using namespace stint::stores::test;

namespace {

std::string text_of(const TrialReport& report) {
    std::string text;
    for (const std::string& line : report.lines)
        text += line + "\n";
    return text;
}

std::string tried(const StoreSettings& settings, bool usable) {
    const TrialReport report = trial_report(settings, try_store(settings));
    const std::string text = text_of(report);
    INFO(text);
    CHECK(report.usable == usable);
    CHECK(contains(report.lines.back(), usable ? "can be used: " : "cannot be used: ") == true);
    return text;
}

// A user of the server with the commands that docs/shared.md lists, but for one.
void add_user(const RedisProcess& server, const std::string& name, const std::string& without) {
    std::string commands;
    for (const char* const each :
         {"+auth", "+hello", "+client|setname", "+ping", "+info", "+config|get", "+script|load",
          "+evalsha", "+subscribe", "+publish", "+time", "+hgetall", "+hget", "+hlen", "+hset",
          "+hdel", "+pexpire"})
        if (each != without)
            commands.append(" '").append(each).append("'");
    REQUIRE(contains(
        ask(server, "acl setuser " + name + " on '>sesame' '~{test}:*' '&{test}:*'" + commands),
        "OK"));
}

TrialFacts good_facts() {
    TrialFacts facts;
    facts.address = "10.0.0.1:6379";
    facts.server.software = "redis";
    facts.server.version = "7.0.15";
    facts.server.role = "master";
    facts.server.eviction_policy = "noeviction";
    facts.server.append_only = true;
    facts.server.append_fsync = "everysec";
    facts.server.connected_replicas = 2;
    facts.round_trip = 85us;
    return facts;
}

} // namespace

TEST_CASE("a server that is fit can be used, and nothing is left of the trial") {
    if (no_server())
        return;
    const RedisProcess server;
    const std::string text = tried(settings(server, "a"), true);
    CHECK(contains(text, "address:     127.0.0.1:" + std::to_string(server.port())));
    CHECK(contains(text, "role master"));
    CHECK(contains(text, "eviction:    noeviction"));
    CHECK(contains(text, "replicas:    none"));
    CHECK(contains(text, "round trip:"));
    await([&] { return contains(ask(server, "dbsize"), "0"); }, "an empty server");
}

TEST_CASE("a server that cannot be used, and why") {
    if (no_server())
        return;
    SUBCASE("it evicts") {
        const RedisProcess server{{"--maxmemory-policy", "allkeys-lru"}};
        CHECK(contains(tried(settings(server, "a"), false), "eviction policy is allkeys-lru"));
    }
    SUBCASE("a wrong password") {
        const RedisProcess server{{"--requirepass", "sesame"}};
        StoreSettings with = settings(server, "a");
        with.password = "poppy";
        const std::string text = tried(with, false);
        CHECK(contains(text, "WRONGPASS"));
        CHECK_FALSE(contains(text, "poppy"));
    }
    SUBCASE("it is gone") {
        RedisProcess server;
        server.kill();
        CHECK(contains(tried(settings(server, "a"), false), "connection refused"));
    }
    SUBCASE("it is a replica") {
        const RedisProcess server{{"--replicaof", "127.0.0.1", "1"}};
        CHECK(contains(tried(settings(server, "a"), false), "role is slave"));
    }
}

TEST_CASE("each command that the documentation asks for is tried") {
    if (no_server())
        return;
    const RedisProcess server;
    StoreSettings with = settings(server, "a");
    with.user = "gate";
    with.password = "sesame";
    add_user(server, "gate", "");
    (void)tried(with, true);
    for (const std::string missing :
         {"publish", "subscribe", "hset", "hget", "hlen", "pexpire", "evalsha", "time"}) {
        CAPTURE(missing);
        with.user = "no-" + missing;
        add_user(server, with.user, "+" + missing);
        CHECK(contains(tried(with, false), "'" + missing + "'"));
    }
    with.user = "no-config";
    add_user(server, with.user, "+config|get");
    CHECK(contains(tried(with, false), "CONFIG GET: NOPERM"));
    with.assume_noeviction = true; // then it is not needed
    (void)tried(with, true);
}

TEST_CASE("what a store can promise depends on who takes the server's place") {
    StoreSettings with;
    CHECK(contains(text_of(trial_report(with, good_facts())), "make a replica the server"));
    TrialFacts alone = good_facts();
    alone.server.connected_replicas = 0;
    CHECK(contains(text_of(trial_report(with, alone)), "no replica takes its place"));
    with.sentinels = StoreSentinels{.master = "mymaster"};
    TrialFacts watched = good_facts();
    watched.voters = {
        {.address = "10.0.0.1:26379", .up = true, .names = "10.0.0.1:6379", .down_after = 15s},
        {.address = "10.0.0.2:26379", .error = "connection refused"}};
    const TrialReport report = trial_report(with, watched);
    CHECK(report.usable);
    CHECK(report.lines[0] == "sentinel:    10.0.0.1:26379 names 10.0.0.1:6379");
    CHECK(report.lines[1] == "sentinel:    10.0.0.2:26379: connection refused");
    CHECK(contains(report.lines.back(), "for 20 s, and a failover within that time costs no"));
    watched.voters[0].down_after = 15'001ms;
    CHECK(contains(
        text_of(trial_report(with, watched)),
        "sentinel:    15001 ms pass before a primary that is silent counts as down"));
}

TEST_CASE("a Cluster promotes a replica of the slot's owner, if it has one") {
    StoreSettings with;
    with.cluster = {{"10.0.0.1", 6379}};
    TrialFacts facts = good_facts();
    facts.server.cluster = true;
    facts.voters = {{.address = "10.0.0.1:6379", .up = true, .names = "10.0.0.2:6379"}};
    CHECK(
        contains(text_of(trial_report(with, facts)), "node:        10.0.0.1:6379 names 10.0.0.2"));
    CHECK(contains(text_of(trial_report(with, facts)), "a failover within that time costs no"));
    facts.server.connected_replicas = 0;
    CHECK(contains(text_of(trial_report(with, facts)), "no replica takes its place"));
}

TEST_CASE("what needs attention is said beside the fact") {
    TrialFacts facts = good_facts();
    facts.round_trip = 30ms;
    facts.server.min_replicas_to_write = 1;
    const std::string text = text_of(trial_report({}, facts));
    CHECK(contains(text, "round trip:  30000 us, longer than `timeout`"));
    CHECK(contains(text, "replicas:    2, min-replicas-to-write 1: it gives nothing while fewer"));
    CHECK(contains(text, "persistence: append-only file, appendfsync everysec"));
}
