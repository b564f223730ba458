// Stores, and limits that gateways share in them.
#include "config_support.hpp"
#include "mistakes_table.hpp"

#include <string>

namespace stint::config {

namespace {

constexpr MistakeRow store_rows[] = {
    {MistakeRow::after_base, "stores: [main]\nroutes: []\n",
     "3:9: stores: found a list; expected a map of stores by name such as {main: {redis: "
     "127.0.0.1:6379}}"},
    {MistakeRow::after_base, "stores: {main: 127.0.0.1:6379}\nroutes: []\n",
     "3:16: stores.main: found the value \"127.0.0.1:6379\"; expected a map such as {redis: "
     "127.0.0.1:6379}"},
    {MistakeRow::after_base, "stores: {main: {prefix: a}}\nroutes: []\n",
     "3:16: stores.main: redis is missing; expected an address such as 127.0.0.1:6379"},
    {MistakeRow::after_base,
     "stores: {main: {redis: 127.0.0.1:6379, sentinel: {master: m, servers: [a:1]}}}\nroutes: []\n",
     "3:40: stores.main.sentinel: excludes redis; keep one of them"},
    {MistakeRow::after_base, "stores: {main: {cluster: [a:1], redis: b:1}}\nroutes: []\n",
     "3:17: stores.main.cluster: excludes redis; keep one of them"},
    {MistakeRow::after_base, "stores: {main: {cluster: []}}\nroutes: []\n",
     "3:26: stores.main.cluster: is empty; expected a list of addresses such as [10.0.0.1:6379, "
     "10.0.0.2:6379, 10.0.0.3:6379]"},
    {MistakeRow::after_base, "stores: {main: {cluster: [a:1, a:1]}}\nroutes: []\n",
     "3:32: stores.main.cluster[1]: \"a:1\" is listed already; remove one"},
    {MistakeRow::after_base, "stores: {main: {sentinel: [a:1]}}\nroutes: []\n",
     "3:27: stores.main.sentinel: found a list; expected a map such as {master: mymaster, servers: "
     "[10.0.0.1:26379]}"},
    {MistakeRow::after_base, "stores: {main: {sentinel: {servers: [a:1]}}}\nroutes: []\n",
     "3:27: stores.main.sentinel: master is missing; expected a name such as mymaster"},
    {MistakeRow::after_base, "stores: {main: {sentinel: {master: m}}}\nroutes: []\n",
     "3:27: stores.main.sentinel: servers is missing; expected a list of addresses such as "
     "[10.0.0.1:26379, 10.0.0.2:26379, 10.0.0.3:26379]"},
    {MistakeRow::after_base, "stores: {main: {sentinel: {master: m, servers: []}}}\nroutes: []\n",
     "3:48: stores.main.sentinel.servers: is empty; expected a list of addresses such as "
     "[10.0.0.1:26379, 10.0.0.2:26379, 10.0.0.3:26379]"},
    {MistakeRow::after_base,
     "stores: {main: {sentinel: {master: m, servers: [a:1, 'unix:/s']}}}\nroutes: []\n",
     "3:54: stores.main.sentinel.servers[1]: is no address of a store; expected an address such as "
     "10.0.0.1:6379"},
    {MistakeRow::after_base,
     "stores: {main: {sentinel: {master: m, servers: [a:1, a:1]}}}\nroutes: []\n",
     "3:54: stores.main.sentinel.servers[1]: \"a:1\" is listed already; remove one"},
    {MistakeRow::after_base, "stores: {main: {redis: 'unix:/run/redis.sock'}}\nroutes: []\n",
     "3:24: stores.main.redis: is no address of a store; expected an address such as "
     "127.0.0.1:6379"},
    {MistakeRow::after_base, "stores: {main: {redis: 127.0.0.1:6379, prefix: 'a:b'}}\nroutes: []\n",
     "3:48: stores.main.prefix: \"a:b\" is no such name; expected up to 64 letters, digits, -, _ "
     "and ."},
    {MistakeRow::after_base, "stores: {main: {redis: 127.0.0.1:6379, timeout: 2s}}\nroutes: []\n",
     "3:49: stores.main.timeout: \"2s\" is out of range; expected at most 1s"},
    {MistakeRow::after_base,
     "stores: {main: {redis: 127.0.0.1:6379, session: 499ms}}\nroutes: []\n",
     "3:49: stores.main.session: \"499ms\" is out of range; expected 500ms to 10m"},
    {MistakeRow::after_base, "stores: {main: {cluster: [a:1], session: 4999ms}}\nroutes: []\n",
     "3:33: stores.main.session: is shorter than a failover takes; expected at least 5s with "
     "sentinel or cluster"},
    {MistakeRow::after_base,
     "stores: {main: {redis: 127.0.0.1:6379, session: 500ms, timeout: 101ms}}\nroutes: []\n",
     "3:56: stores.main.timeout: is too long for the session; expected at most a fifth of it"},
    {MistakeRow::after_base,
     "permits: {address: 127.0.0.1:8082}\nstores: {main: {redis: 127.0.0.1:6379}}\n"
     "locks: {a: {shared: {store: main, on_store_failure: open}}}\nroutes: []\n",
     "5:53: locks.a.shared.on_store_failure: \"open\" is for limits: a lock that each gateway "
     "grants alone has several holders; expected share or closed"},
    {MistakeRow::after_base,
     "permits: {address: 127.0.0.1:8082}\nstores: {main: {redis: 127.0.0.1:6379}}\n"
     "locks: {a: {shared: main}}\n"
     "routes: [{name: w, match: {path: /}, respond: {body: x}, require_fence: a}]\n",
     "6:73: routes[0].require_fence: \"a\" is shared, and another gateway may have granted a later "
     "number that this one has not heard of; expected a lock without shared, or a storage that "
     "compares the numbers"},
    {MistakeRow::after_base, "gateway_id: edge 1\nroutes: []\n",
     "3:13: gateway_id: \"edge 1\" is no such name; expected up to 64 letters, digits, -, _ and ."},
    {MistakeRow::after_base, "limits: {a: {concurrent: 5, shared: main}}\nroutes: []\n",
     "3:37: limits.a.shared: \"main\" is not a store; expected a name under stores: which this "
     "file does not have"},
    {MistakeRow::after_base,
     "stores: {main: {redis: 127.0.0.1:6379}}\n"
     "limits: {a: {concurrent: 5, shared: other}}\nroutes: []\n",
     "4:37: limits.a.shared: \"other\" is not a store; expected \"main\""},
    {MistakeRow::after_base,
     "stores: {main: {redis: 127.0.0.1:6379}}\n"
     "limits: {a: {concurrent: 5, shared: {store: main, on_store_failure: ignore}}}\nroutes: []\n",
     "4:69: limits.a.shared.on_store_failure: \"ignore\" is unknown; expected share, open or "
     "closed"},
    {MistakeRow::after_base,
     "stores: {main: {redis: 127.0.0.1:6379}}\n"
     "limits: {a: {requests: 5, per: 32d, shared: main}}\nroutes: []\n",
     "4:45: limits.a.shared: needs a per of at most 31d: the store forgets sooner what a gateway "
     "that has ended had used; expected a shorter window, or no shared"},
    {MistakeRow::after_base,
     "stores: {main: {redis: 127.0.0.1:6379}}\n"
     "limits: {a: {requests: 10, per: 1d, algorithm: token_bucket, burst: 311, shared: main}}\n"
     "routes: []\n",
     "4:82: limits.a.shared: needs a bucket that is full again within 31d: the store forgets "
     "sooner "
     "what a gateway that has ended had used; expected a lower burst, or no shared"},
    {MistakeRow::after_base,
     "stores: {main: {redis: 127.0.0.1:6379}}\n"
     "limits: {a: {requests: 5, per: 1s, retry_after: reserve, shared: main}}\nroutes: []\n",
     "4:66: limits.a.shared: excludes retry_after: reserve: a slot in a coming window cannot be "
     "promised of a share that may be smaller then; expected when_exceeded: wait"},
    {MistakeRow::after_base,
     "stores: {main: {redis: 127.0.0.1:6379}}\n"
     "limits: {a: {requests: 5, per: 1s, retry_after: reserve}, b: {concurrent: 5, shared: main}}\n"
     "routes: [{name: r, upstream: shop, limits: [a, b]}]\n",
     "5:48: routes[0].limits[1]: gateways share \"b\", and \"a\" reserves slots (retry_after: "
     "reserve); expected only one of both on a route"},
};

} // namespace

TEST_CASE("the table: stores") {
    check_rows(store_rows);
}

TEST_CASE("Sentinels may name a store's server") {
    const Config config = loaded(
        std::string{base} + "stores: {main: {sentinel: {master: mymaster, servers: [10.0.0.1:1, "
                            "'[::1]:2'], username: u}}}\n"
                            "routes: []\n");
    REQUIRE(config.stores.size() == 1);
    REQUIRE(config.stores[0].sentinel.has_value());
    const StoreSentinel& sentinel = *config.stores[0].sentinel;
    CHECK(sentinel.master == "mymaster");
    CHECK(sentinel.username == "u");
    REQUIRE(sentinel.servers.size() == 2);
    CHECK(sentinel.servers[1].host == "::1");
    CHECK(sentinel.servers[1].port == 2);
}

TEST_CASE("nodes of a Cluster may name a store's server") {
    const Config config =
        loaded(std::string{base} + "stores: {main: {cluster: [a.b:1, '[::1]:2']}}\nroutes: []\n");
    REQUIRE(config.stores.size() == 1);
    CHECK(config.stores[0].redis.text.empty());
    REQUIRE(config.stores[0].cluster.size() == 2);
    CHECK(config.stores[0].cluster[0].host == "a.b");
    CHECK(config.stores[0].cluster[1].host == "::1");
    CHECK(config.stores[0].cluster[1].port == 2);
}

TEST_CASE("a limit may be shared in short, and in full") {
    const Config config = loaded(
        std::string{base} + "stores: {other: {redis: 10.0.0.1:1}, main: {redis: a.b:6379}}\n"
                            "limits:\n"
                            "  a: {requests: 5, per: 1s, shared: main}\n"
                            "  b: {concurrent: 5, shared: {store: other, on_store_failure: "
                            "closed}}\n"
                            "  c: {concurrent: 5}\n"
                            "routes: []\n");
    REQUIRE(config.stores.size() == 2);
    CHECK(config.stores[1].redis.host == "a.b");
    CHECK(config.stores[1].redis.port == 6379);
    REQUIRE(config.limits[0].shared.has_value());
    CHECK(config.limits[0].shared->store == 1);
    CHECK(config.limits[0].shared->on_store_failure == SharedLimit::OnStoreFailure::share);
    CHECK(config.limits[1].shared->store == 0);
    CHECK(config.limits[1].shared->on_store_failure == SharedLimit::OnStoreFailure::closed);
    CHECK_FALSE(config.limits[2].shared.has_value());
}

TEST_CASE("so may a lock") {
    const Config config = loaded(
        std::string{base} + "permits: {address: 127.0.0.1:8082}\n"
                            "stores: {main: {redis: 10.0.0.1:6379}}\n"
                            "locks:\n"
                            "  a: {shared: main}\n"
                            "  b: {max: 3, shared: {store: main, on_store_failure: closed}}\n"
                            "  c: {}\n"
                            "routes: []\n");
    REQUIRE(config.limits[0].shared.has_value());
    CHECK(config.limits[0].shared->store == 0);
    CHECK(config.limits[1].shared->on_store_failure == SharedLimit::OnStoreFailure::closed);
    CHECK_FALSE(config.limits[2].shared.has_value());
}

} // namespace stint::config
