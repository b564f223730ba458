// Locks: what they become, and mistakes in them.
#include "config_support.hpp"

#include <chrono>

namespace stint::config {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view permits = "permits: {address: 127.0.0.1:8082}\n";

// `lock` stands at 4:15.
void check_lock(
    std::string_view lock,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_added(
        std::string{permits} + "locks: {jobs: " + std::string{lock} + "}\nroutes: []\n", expected,
        at);
}

// `more` begins at 5:36.
std::string with_route(std::string_view more) {
    return std::string{permits} + "locks: {product: {max: 3}, jobs: {}}\n" +
           "routes: [{name: r, upstream: shop, " + std::string{more} + "}]\n";
}
Config loaded_route(std::string_view more) {
    return loaded(std::string{base} + with_route(more));
}

// `setting` begins at 3:37.
void check_permits(
    std::string_view setting,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_added(
        "permits: {address: 127.0.0.1:8082, " + std::string{setting} + "}\nroutes: []\n", expected,
        at);
}

} // namespace

TEST_CASE("a lock is a cap behind the named limits, with a name of its own kind") {
    const Config config = loaded(
        std::string{base} + std::string{permits} +
        "locks: {product: {max: 3, max_waiting: 7}, jobs: {}}\n"
        "limits: {product: {requests: 1, per: 1s}}\n"
        "routes: [{name: r, upstream: shop, limits: [{concurrent: 2}]}]\n");

    REQUIRE(config.limits.size() == 4);
    const Limit& product = config.limits[1];
    CHECK(product.name == "lock:product");
    CHECK(product.kind == Limit::Kind::cap);
    CHECK(product.quota == 3);
    REQUIRE(product.lock.has_value());
    CHECK(product.lock->max_waiting == 7);
    CHECK_FALSE(product.wait);
    CHECK(product.route.empty());
    CHECK(config.limits[2].name == "lock:jobs");
    CHECK(config.limits[2].quota == 1);
    CHECK(config.limits[2].lock->max_waiting == 10'000);
    CHECK_FALSE(config.limits[0].lock);
    CHECK(config.limits[3].name == "r.1");
    CHECK_FALSE(config.limits[3].lock);
}

TEST_CASE("a lock that nothing is said of is a mutex") {
    const Config config =
        loaded(std::string{permits} + "locks:\n  jobs:\n  other: {}\n  third: ~\n");

    REQUIRE(config.limits.size() == 3);
    for (const Limit& lock : config.limits)
        CHECK(lock.quota == 1);
}

TEST_CASE("requests of routes may wait for a lock, as many as who ask for leases") {
    const Config config = loaded(
        std::string{permits} +
        "locks: {jobs: {when_exceeded: wait, max_wait: 3s, max_waiting: 9, fair_by: host, "
        "status: 503, body: busy, headers: draft, retry_after_jitter: 1s}}\n");

    const Limit& lock = config.limits.at(0);
    REQUIRE(lock.wait.has_value());
    CHECK(lock.wait->max_wait == 3s);
    CHECK(lock.wait->max_waiting == 9);
    CHECK(lock.wait->fair_by == std::vector{KeySource{KeySource::Kind::host, {}}});
    CHECK(lock.status == 503);
    CHECK(lock.body->text == "busy");
    CHECK(lock.headers == Headers::Fields::draft);
    CHECK(lock.retry_after_jitter == 1s);
}

TEST_CASE("a lock's numbers are whole and in range, and 0 says why not") {
    check_lock("{max: 1000000, max_waiting: 100000}", {});
    check_lock(
        "{max: 0}", {"4:21: locks.jobs.max: a lock with max 0 could never be had; expected at "
                     "least 1, the default (to keep everybody out"});
    check_lock("{max: -1}", {"4:21: locks.jobs.max: \"-1\" is negative"});
    check_lock("{max: 2.5}", {"4:21: locks.jobs.max: \"2.5\" is not a whole number"});
    check_lock("{max: many}", {"4:21: locks.jobs.max: \"many\" is not a whole number"});
    check_lock("{max: 1000001}", {"4:21: locks.jobs.max: \"1000001\" is too large"});
    check_lock("{max_waiting: 0}", {"4:29: locks.jobs.max_waiting: \"0\" is zero"});
    check_lock("{max_waiting: 100001}", {"4:29: locks.jobs.max_waiting: \"100001\" is too large"});
}

TEST_CASE("a lock is a map of keys that it has") {
    check_lock("3", {"4:15: locks.jobs: found the value \"3\"; expected a map such as {max: 3}"});
    check_lock("[max]", {"4:15: locks.jobs: found a list; expected a map such as {max: 3}"});
    check_lock(
        "{max_waitng: 3}",
        {"4:16: locks.jobs.max_waitng: unknown key; did you mean \"max_waiting\"?"});
    check_lock("{key: host}", {"4:16: locks.jobs.key: unknown key; expected max, max_waiting"});
    check_lock(
        "{max_wait: 1s, fair_by: host}",
        {"4:16: locks.jobs.max_wait: is only for a limit with when_exceeded: wait",
         "4:30: locks.jobs.fair_by: is only for a limit with when_exceeded: wait"});
    check_lock(
        "{when_exceeded: wait, fair_by: \"tls:subject\"}",
        {"4:46: locks.jobs.fair_by: \"tls:subject\" needs a listener with client_ca"});
}

TEST_CASE("locks are a map of proper names, each there once") {
    check_added(
        std::string{permits} + "locks: [jobs]\nroutes: []\n",
        {"4:8: locks: found a list; expected a map of locks by name"});
    check_added(
        std::string{permits} + "locks: {a b: {}, jobs: {}, jobs: {}}\nroutes: []\n",
        {"4:9: locks.\"a b\": \"a b\" is not a name", "4:28: the key \"jobs\" is here twice"});
    check_added(
        std::string{permits} + "locks: {\"lock:x\": {}}\nroutes: []\n",
        {"4:9: locks.\"lock:x\": \"lock:x\" is not a name"});
}

TEST_CASE("locks need a listener where they are asked for") {
    check_added(
        "locks: {jobs: {}}\nroutes: []\n",
        {"3:1: locks: needs permits: the listener where locks are asked for"});
}

TEST_CASE("a route takes slots of a lock beside its limits") {
    const Config config = loaded_route("limits: [{concurrent: 2}, {lock: product}]");

    CHECK(config.routes[0].limits == std::vector<std::size_t>{2, 0});
}

TEST_CASE("a route takes locks that exist, each once") {
    check_added(
        with_route("limits: [{lock: prodct}]"),
        {"5:52: routes[0].limits[0].lock: \"prodct\" is not a lock; did you mean \"product\"?"});
    check_added(
        with_route("limits: [{lock: other}]"),
        {"5:52: routes[0].limits[0].lock: \"other\" is not a lock; expected jobs or product"});
    check_added(
        with_route("limits: [{lock: jobs}, {lock: jobs}]"),
        {"5:59: routes[0].limits[1]: \"lock:jobs\" is listed already"});
    check_added(
        with_route("limits: [{lock: jobs, concurrent: 3}]"),
        {"5:58: routes[0].limits[0].concurrent: unknown key; expected lock"});
    check_added(
        with_route("limits: [{lock: [jobs]}]"),
        {"5:52: routes[0].limits[0].lock: found a list; expected a lock's name"});
    check_added(
        with_route("limits: [jobs]"),
        {"5:45: routes[0].limits[0]: \"jobs\" is a lock; expected {lock: jobs}"});
    check_added(
        with_route("limits: [\"lock:jobs\"]"),
        {"5:45: routes[0].limits[0]: \"lock:jobs\" is not a limit; none is defined"});
}

TEST_CASE("a route may require the number of a lock that one holder has") {
    CHECK(loaded_route("require_fence: jobs").routes[0].require_fence == 1U);
    CHECK_FALSE(loaded_route("limits: []").routes[0].require_fence);
    check_added(
        with_route("require_fence: job"),
        {"5:51: routes[0].require_fence: \"job\" is not a lock; did you mean \"jobs\"?"});
    check_added(
        with_route("require_fence: product"),
        {"5:51: routes[0].require_fence: \"product\" has max 3, and the number of each holder "
         "would shut the others out; expected a lock with max 1"});
    check_added(
        with_route("require_fence: [jobs]"),
        {"5:51: routes[0].require_fence: found a list; expected a lock's name"});
}

TEST_CASE("the permits say how many locks callers may make, and for how long") {
    const Config defaults = loaded(permits);
    CHECK(defaults.permits->dynamic_locks == 10'000);
    CHECK(defaults.permits->max_ttl == 60s);
    CHECK_FALSE(defaults.permits->start_up_grace);

    const Config config = loaded("permits: {address: 127.0.0.1:8082, dynamic_locks: 0, "
                                 "max_ttl: 24h, start_up_grace: 0s}\n");
    CHECK(config.permits->dynamic_locks == 0);
    CHECK(config.permits->max_ttl == 24h);
    CHECK(config.permits->start_up_grace == 0ms);

    check_permits("dynamic_limits: 0, dynamic_locks: 1000000", {});
    check_permits(
        "dynamic_locks: 1000001", {"3:51: permits.dynamic_locks: \"1000001\" is too large"});
    check_permits("max_ttl: 1s, start_up_grace: 24h", {});
    check_permits(
        "max_ttl: 999ms", {"3:45: permits.max_ttl: \"999ms\" is out of range; expected 1s to 24h"});
    check_permits("max_ttl: 25h", {"3:45: permits.max_ttl: \"25h\" is out of range"});
    check_permits("max_ttl: 60", {"3:45: permits.max_ttl: \"60\" has no unit"});
    check_permits(
        "start_up_grace: 25h",
        {"3:52: permits.start_up_grace: \"25h\" is out of range; expected at most 24h"});
    check_permits("start_up_grace: off", {"3:52: such as 800ms, or 0s"});
}

} // namespace stint::config
