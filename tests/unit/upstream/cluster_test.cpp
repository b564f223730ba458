#include "fixture.hpp"
#include "upstream/cluster.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

using namespace stint::upstream;
using namespace stint::upstream::test;
using stint::routing::EndpointSpec;
using stint::routing::Snapshot;

namespace {

EndpointSpec ip(std::uint16_t port) {
    return {"127.0.0.1", port, false, "127.0.0.1:" + std::to_string(port)};
}

Snapshot snapshot_of(std::initializer_list<std::vector<EndpointSpec>> upstreams) {
    std::vector<stint::routing::UpstreamSpec> specs;
    for (const auto& endpoints : upstreams)
        specs.push_back({.name = "u", .endpoints = endpoints, .host = "", .metric = 0});
    Snapshot snapshot;
    snapshot.upstreams =
        std::make_shared<const std::vector<stint::routing::UpstreamSpec>>(std::move(specs));
    return snapshot;
}

Pool& next(Cluster& cluster) {
    return *cluster.choose(at(0s)).member->pool;
}

} // namespace

TEST_CASE("a cluster's endpoints are taken in turn") {
    Pools pools{buffers()};
    auto clusters = pools.adopt(snapshot_of({{ip(1), ip(2), ip(3)}}));

    std::string turns;
    for (int i = 0; i < 7; ++i)
        turns += next(clusters[0]).endpoint().back();

    CHECK(turns == "1231231");
    CHECK(clusters[0].size() == 3);
}

TEST_CASE("an endpoint that a new snapshot still has keeps its pool") {
    Pools pools{buffers()};
    auto before = pools.adopt(snapshot_of({{ip(1), ip(2)}}));
    Pool* const first = &next(before[0]);

    auto after = pools.adopt(snapshot_of({{ip(3)}, {ip(1)}}));

    CHECK(&next(after[1]) == first);
}

TEST_CASE("two upstreams with the same endpoint share its pool") {
    Pools pools{buffers()};
    auto clusters = pools.adopt(snapshot_of({{ip(1)}, {ip(1)}}));

    CHECK(&next(clusters[0]) == &next(clusters[1]));
}

TEST_CASE("the pool of an endpoint that has gone is retired, but outlives its requests") {
    Origin origin;
    const std::uint16_t port = [&] {
        const std::string text = origin.listening.text();
        return static_cast<std::uint16_t>(std::stoi(text.substr(text.find(':') + 1)));
    }();
    Pools pools{buffers()};
    auto before = pools.adopt(snapshot_of({{ip(port)}}));
    Pool& pool = next(before[0]);
    Lease idle = pool.make_new(origin.loop.get_executor());
    REQUIRE_FALSE(connect(origin.loop, idle));
    Wire idle_far = origin.listening.accept();
    Lease in_use = pool.make_new(origin.loop.get_executor());
    REQUIRE_FALSE(connect(origin.loop, in_use));
    Wire in_use_far = origin.listening.accept();
    idle.keep(at(0s));
    REQUIRE(before[0].idle() == 1);

    const auto after = pools.adopt(snapshot_of({{ip(1)}}));

    idle_far.wait_closed();
    CHECK_FALSE(in_use_far.closed());
    in_use.keep(at(1s)); // the former snapshot's cluster still holds the pool
    in_use_far.wait_closed();
}

TEST_CASE("an endpoint that comes back after it had gone is pooled again") {
    Pools pools{buffers()};
    auto first = pools.adopt(snapshot_of({{ip(1)}}));
    Pool* const former = &next(first[0]);
    auto second = pools.adopt(snapshot_of({{ip(2)}}));

    auto third = pools.adopt(snapshot_of({{ip(1)}}));

    CHECK(&next(third[0]) != former); // which is retired and keeps nothing
}

TEST_CASE("a literal endpoint has its address at once, a name when the book has it") {
    const EndpointSpec name{"shop.internal", 80, false, "shop.internal:80"};
    const EndpointSpec v6{"::1", 81, false, "[::1]:81"};
    const EndpointSpec path{"/run/s", 0, true, "unix:/run/s"};
    Pools pools{buffers()};
    auto clusters = pools.adopt(snapshot_of({{name, v6, path}}));
    Pool& by_name = next(clusters[0]);
    Pool& by_address = next(clusters[0]);
    Pool& by_path = next(clusters[0]);
    CHECK(by_name.addresses().empty());
    REQUIRE(by_address.addresses().size() == 1);
    REQUIRE(by_path.addresses().size() == 1);
    CHECK(stint::net::to_text(by_address.addresses()[0]) == "[::1]:81");
    CHECK(stint::net::to_text(by_path.addresses()[0]) == "unix:/run/s");

    pools.apply(std::make_shared<const AddressBook>(
        AddressBook{{"shop.internal", {"192.0.2.1", "2001:db8::1"}}, {"other", {"192.0.2.9"}}}));

    REQUIRE(by_name.addresses().size() == 2);
    CHECK(stint::net::to_text(by_name.addresses()[0]) == "192.0.2.1:80");
    CHECK(stint::net::to_text(by_name.addresses()[1]) == "[2001:db8::1]:80");
    CHECK(by_address.addresses().size() == 1);
}

TEST_CASE("a pool made after the book came knows its addresses") {
    const EndpointSpec name{"shop.internal", 80, false, "shop.internal:80"};
    Pools pools{buffers()};
    pools.apply(std::make_shared<const AddressBook>(AddressBook{{"shop.internal", {"192.0.2.1"}}}));

    auto clusters = pools.adopt(snapshot_of({{name}}));

    CHECK(next(clusters[0]).addresses().size() == 1);
}
