// Origins that are made at run time.
#include "fixture.hpp"
#include "upstream/origin.hpp"

#include <doctest/doctest.h>

using namespace stint::upstream;
using namespace stint::upstream::test;
using stint::routing::UpstreamSpec;

namespace {

UpstreamSpec site(const std::string& name, std::uint16_t port = 80) {
    UpstreamSpec spec;
    spec.name = name;
    spec.endpoints.push_back({"127.0.0.1", port, false, "127.0.0.1:" + std::to_string(port), name});
    return spec;
}

} // namespace

TEST_CASE("an origin of a name is made once, with its endpoint's address") {
    DynamicOrigins origins{buffers(), 60s, 10};
    const OriginPtr one = origins.get(site("a.example"), at(0s));
    CHECK(origins.get(site("a.example"), at(1s)) == one);
    CHECK(origins.get(site("b.example"), at(1s)) != one);
    CHECK(origins.size() == 2);
    CHECK(one->spec().name == "a.example");
    const Cluster::Choice choice = one->cluster().choose(at(1s));
    REQUIRE(choice.member != nullptr);
    CHECK(choice.member->pool->addresses().size() == 1);
    CHECK(choice.member->streams->endpoint() == "127.0.0.1:80");
}

TEST_CASE("an origin expires once no request has used it for long enough") {
    DynamicOrigins origins{buffers(), 60s, 10};
    OriginPtr held = origins.get(site("held"), at(0s));
    CHECK(origins.get(site("left"), at(0s)));
    origins.sweep(at(59s), 30s);
    CHECK(origins.size() == 2);
    origins.sweep(at(60s), 30s);
    CHECK(origins.size() == 1);
    origins.sweep(at(1000s), 30s); // a request still holds it
    CHECK(origins.size() == 1);
    CHECK(origins.get(site("held"), at(1001s)) == held);
    held.reset();
    origins.sweep(at(1060s), 30s);
    CHECK(origins.size() == 1);
    origins.sweep(at(1061s), 30s);
    CHECK(origins.size() == 0);
}

TEST_CASE("where as many origins exist as may, the one unused for longest makes room") {
    DynamicOrigins origins{buffers(), 60s, 2};
    const OriginPtr held = origins.get(site("held"), at(0s));
    CHECK(origins.get(site("idle"), at(1s)));
    const OriginPtr third = origins.get(site("third"), at(2s));
    REQUIRE(third);
    CHECK(origins.size() == 2);
    CHECK(origins.get(site("held"), at(2s)) == held);
    CHECK_FALSE(origins.get(site("fourth"), at(3s))); // requests hold both
    CHECK(origins.size() == 2);
}

TEST_CASE("an expired origin's idle connections are closed, and those in use are not kept") {
    stint::upstream::test::Origin far;
    const std::string text = far.listening.text();
    const auto port = static_cast<std::uint16_t>(std::stoi(text.substr(text.find(':') + 1)));
    DynamicOrigins origins{buffers(), 60s, 10};
    OriginPtr origin = origins.get(site("a.example", port), at(0s));
    Pool& pool = *origin->cluster().choose(at(0s)).member->pool;
    const std::shared_ptr<Pool> kept = origin->cluster().choose(at(0s)).member->pool;
    Lease idle = pool.make_new(far.loop.get_executor());
    REQUIRE_FALSE(connect(far.loop, idle));
    Wire idle_far = far.listening.accept();
    Lease in_use = pool.make_new(far.loop.get_executor());
    REQUIRE_FALSE(connect(far.loop, in_use));
    Wire in_use_far = far.listening.accept();
    idle.keep(at(0s));
    CHECK(kept->idle() == 1);

    origin.reset();
    origins.sweep(at(60s), 3600s);
    CHECK(origins.size() == 0);
    idle_far.wait_closed();
    in_use.keep(at(61s));
    in_use_far.wait_closed();
}
