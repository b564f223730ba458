#include "redis/failure.hpp"
#include "redis/server_facts.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint::redis;

namespace {

Value fact_text(std::string text, Value::Kind kind = Value::Kind::bulk) {
    return {.kind = kind, .text = std::move(text)};
}

} // namespace

TEST_CASE("the facts in INFO") {
    ServerFacts facts;
    read_info(
        facts, fact_text(
                   "# Server\r\nredis_version:7.0.15\r\nconfig_file:/a:b\r\n\r\n# Memory\r\n"
                   "maxmemory_policy:noeviction\r\naof_enabled:0\r\nrole:master\r\n"
                   "connected_slaves:2\r\nmaster_replid:8371\r\nmaster_replid2:0000\r\n"
                   "cluster_enabled:1",
                   Value::Kind::verbatim));
    CHECK(facts.software == "redis");
    CHECK(facts.version == "7.0.15");
    CHECK(facts.role == "master");
    CHECK(facts.replication_id == "8371");
    CHECK(facts.eviction_policy == "noeviction");
    CHECK(facts.append_only == false);
    CHECK(facts.connected_replicas == 2);
    CHECK(facts.cluster == true);
    CHECK_FALSE(facts.append_fsync.has_value());
}

TEST_CASE("a server that is not Redis says so beside a version of Redis") {
    for (const char* info :
         {"redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\n",
          "server_name:valkey\r\nvalkey_version:8.1.1\r\nredis_version:7.2.4\r\n"}) {
        ServerFacts facts;
        read_info(facts, fact_text(info));
        CHECK(facts.software == "valkey");
        CHECK(facts.version == "8.1.1");
    }
}

TEST_CASE("the facts in CONFIG GET, as a map or as RESP2 has it") {
    for (const Value::Kind kind : {Value::Kind::map, Value::Kind::array}) {
        Value config{.kind = kind};
        for (const char* each :
             {"appendonly", "yes", "appendfsync", "everysec", "min-replicas-to-write", "1",
              "min-replicas-max-lag", "x", "maxmemory-policy", "allkeys-lru"})
            config.items.push_back(fact_text(each));
        ServerFacts facts;
        read_config(facts, config);
        CHECK(facts.append_only == true);
        CHECK(facts.append_fsync == "everysec");
        CHECK(facts.min_replicas_to_write == 1);
        CHECK_FALSE(facts.min_replicas_max_lag.has_value());
        CHECK(facts.eviction_policy == "allkeys-lru");
    }
}

TEST_CASE("a refusal tells no facts, and takes none away") {
    ServerFacts facts;
    facts.append_only = true;
    const ServerFacts before = facts;
    read_info(facts, fact_text("NOPERM", Value::Kind::error));
    read_config(facts, fact_text("NOPERM", Value::Kind::error));
    read_config(facts, Value{});
    CHECK(facts == before);
}

TEST_CASE("errors of a server by their code") {
    const struct {
        const char* text;
        Failure::Kind kind;
        bool may_have_run;
    } cases[] = {
        {"LOADING Redis is loading the dataset in memory", Failure::Kind::loading, false},
        {"READONLY You can't write against a read only replica.", Failure::Kind::read_only, false},
        {"MASTERDOWN Link with MASTER is down", Failure::Kind::primary_down, false},
        {"NOREPLICAS Not enough good replicas to write.", Failure::Kind::no_replicas, false},
        {"OOM command not allowed", Failure::Kind::out_of_memory, false},
        {"BUSY Redis is busy running a script.", Failure::Kind::script_running, false},
        {"NOPERM this user has no permissions", Failure::Kind::denied, false},
        {"NOAUTH Authentication required.", Failure::Kind::denied, false},
        {"WRONGPASS invalid", Failure::Kind::denied, false},
        {"NOSCRIPT No matching script.", Failure::Kind::no_script, false},
        {"ERR value is not an integer script: 1, on @user_script:1.", Failure::Kind::other_error,
         true},
        {"BUSYGROUP x", Failure::Kind::other_error, true},
    };
    for (const auto& each : cases) {
        CAPTURE(each.text);
        const Failure failure = failure_of(fact_text(each.text, Value::Kind::error));
        CHECK(failure.kind == each.kind);
        CHECK(failure.may_have_run() == each.may_have_run);
        CHECK(failure.text == std::string{"redis: "} + each.text);
    }
}
