#include "fixture.hpp"
#include "limits/registry.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

TEST_CASE("limits of one identity are one limit, whatever their numbers") {
    Registry registry;
    LimitSpec spec = keyed_window(1s, 10);
    const LimitPtr first = registry.obtain(spec);

    spec.quota = 99;
    spec.max_keys = 7;

    CHECK(registry.obtain(spec) == first);
}

TEST_CASE("each part of an identity tells limits apart") {
    Registry registry;
    const LimitPtr first = registry.obtain(window(1s));
    LimitSpec other = window(1s);

    SUBCASE("name") {
        other.identity.name = "other";
    }
    SUBCASE("key") {
        other.identity.key = "client_ip";
    }
    SUBCASE("algorithm") {
        other.identity.algorithm = Algorithm::concurrency;
    }
    SUBCASE("anchor") {
        other.identity.anchor = Anchor::clock;
    }
    SUBCASE("length") {
        other.identity.per = 2s;
    }

    CHECK(registry.obtain(other) != first);
}

TEST_CASE("a limit that someone still uses is found again") {
    Registry registry;
    const LimitPtr used = registry.obtain(window(1s));
    registry.keep({used});

    registry.keep({});

    CHECK(registry.obtain(window(1s)) == used);
}

TEST_CASE("a limit that the registry keeps outlives its users with its counts") {
    Registry registry;
    registry.keep({registry.obtain(window(1s))});
    REQUIRE(admit_one(*registry.obtain(window(1s)), 1, at(0s)).allowed());

    CHECK_FALSE(admit_one(*registry.obtain(window(1s)), 1, at(0s)).allowed());
}

TEST_CASE("a limit that nobody uses or keeps begins anew") {
    Registry registry;
    REQUIRE(admit_one(*registry.obtain(window(1s)), 1, at(0s)).allowed());

    CHECK(admit_one(*registry.obtain(window(1s)), 1, at(0s)).allowed());
}

TEST_CASE("a limit that is obtained again takes over max_keys") {
    Registry registry;
    const LimitPtr limit = registry.obtain(keyed_window(1s, 1));
    REQUIRE(admit_one(*limit, 1, at(0s), key(1)).allowed());
    REQUIRE(admit_one(*limit, 1, at(0s), key(2)).allowed());
    REQUIRE(limit->live_keys(at(0s)) == 1);

    CHECK(registry.obtain(keyed_window(1s, 2)) == limit);
    CHECK(admit_one(*limit, 1, at(0s), key(3)).allowed());
    CHECK(limit->live_keys(at(0s)) == 2);
}

TEST_CASE("ordinals rise with every limit") {
    const Limit first{window(1s)};
    const Limit second{window(1s)};

    CHECK(first.ordinal() < second.ordinal());
}

TEST_CASE("each limit is shown once when it is made, before a caller has it") {
    Registry registry;
    std::vector<std::string> made;
    registry.on_made([&](Limit& limit) {
        made.push_back(limit.identity().name);
        limit.close(at(0s));
    });

    const LimitPtr limit = registry.obtain(window(1s));

    CHECK(registry.obtain(window(1s)) == limit);
    CHECK(made == std::vector<std::string>{"w"});
    CHECK_FALSE(admit_one(*limit, 1, at(0s)).allowed());
    CHECK(registry.alive() == std::vector<LimitPtr>{limit});
}
