#include "stores/fitness.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint;
using namespace stint::stores;

namespace {

redis::ServerFacts fit_server() {
    redis::ServerFacts facts;
    facts.version = "7.0.15";
    facts.role = "master";
    facts.eviction_policy = "noeviction";
    facts.cluster = false;
    return facts;
}

template <class Change>
std::string with(Change change, bool assume_noeviction = false) {
    redis::ServerFacts facts = fit_server();
    change(facts);
    return unfit(facts, StoreSettings{.assume_noeviction = assume_noeviction});
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a primary of version 7 or later that evicts nothing is fit") {
    CHECK(with([](auto&) {}).empty());
    CHECK(with([](auto& facts) { facts.version = "8.1.0"; }).empty());
    CHECK(with([](auto& facts) { facts.version = "10.0.0"; }).empty());
}

TEST_CASE("what makes a server unfit is said") {
    CHECK(says(with([](auto& facts) { facts.version = "6.2.7"; }), "6.2.7"));
    CHECK(says(with([](auto& facts) { facts.version = ""; }), "INFO"));
    CHECK(says(with([](auto& facts) { facts.version = "unstable"; }), "unstable"));
    CHECK(says(with([](auto& facts) { facts.role = "slave"; }), "slave"));
    CHECK(says(with([](auto& facts) { facts.cluster = true; }), "under `cluster`"));
    CHECK(says(with([](auto& facts) { facts.eviction_policy = "volatile-ttl"; }), "volatile-ttl"));
    CHECK(says(with([](auto& facts) { facts.eviction_policy.reset(); }), "assume"));
}

TEST_CASE("a store on a Cluster takes a node of one, and no other server") {
    const StoreSettings settings{.cluster = {{"10.0.0.1", 6379}}};
    redis::ServerFacts facts = fit_server();
    CHECK(says(unfit(facts, settings), "not part of a Redis Cluster"));
    facts.cluster = true;
    CHECK(unfit(facts, settings).empty());
    facts.role = "slave";
    CHECK(says(unfit(facts, settings), "slave"));
}

TEST_CASE("an assumption stands for the eviction policy alone") {
    CHECK(with([](auto& facts) { facts.eviction_policy.reset(); }, true).empty());
    CHECK(with([](auto& facts) { facts.eviction_policy = "allkeys-lru"; }, true).empty());
    CHECK_FALSE(with([](auto& facts) { facts.role = "slave"; }, true).empty());
    CHECK_FALSE(with([](auto& facts) { facts.version = "6.0.0"; }, true).empty());
}
