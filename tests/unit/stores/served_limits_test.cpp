#include "stores/served_limits.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>

using namespace stint;
using namespace stint::stores;
using namespace std::chrono_literals;
using limits::OnStoreFailure;

namespace {

constexpr Now noon{SteadyTime{10h}, WallTime{1000h}};

limits::LimitPtr limit_of_ten() {
    limits::LimitSpec spec;
    spec.identity = {.name = "api", .key = {}, .per = 1s};
    spec.quota = 10;
    return std::make_shared<limits::Limit>(spec);
}

std::uint64_t share_of(const limits::Limit& limit) {
    const auto share = limit.share({}, noon).numbers;
    return share ? share->quota : 10;
}

} // namespace

TEST_CASE("a limit that is divided has nothing without a share, and its share until the end") {
    ServedLimits served;
    const limits::LimitPtr limit = limit_of_ten();
    CHECK(share_of(*limit) == 10);
    served.add(limit, OnStoreFailure::share, noon.steady);
    CHECK(share_of(*limit) == 0);
    CHECK(limit->set_share({}, {{4, 0}, SteadyTime::max() - 1ns}, noon));
    CHECK(share_of(*limit) == 0);
    served.stand({noon.steady + 1s, true, true}, noon.steady);
    CHECK(share_of(*limit) == 4);
    CHECK(limit->share_policy().asking());
    served.stand({noon.steady, false, true}, noon.steady);
    CHECK(share_of(*limit) == 0);
    CHECK_FALSE(limit->share_policy().asking());
}

TEST_CASE("a store that does not answer closes the limits that are closed without it") {
    ServedLimits served;
    const limits::LimitPtr shared = limit_of_ten();
    const limits::LimitPtr closed = limit_of_ten();
    served.add(shared, OnStoreFailure::share, noon.steady);
    served.add(closed, OnStoreFailure::closed, noon.steady);
    for (const limits::LimitPtr& each : {shared, closed})
        CHECK(each->set_share({}, {{4, 0}, SteadyTime::max() - 1ns}, noon));
    served.stand({noon.steady + 1s, true, false}, noon.steady);
    CHECK(share_of(*shared) == 4);
    CHECK(share_of(*closed) == 0);
    served.stand({noon.steady + 1s, true, true}, noon.steady);
    CHECK(share_of(*closed) == 4);
    served.add(closed, OnStoreFailure::share, noon.steady); // a reload
    served.stand({noon.steady + 1s, true, false}, noon.steady);
    CHECK(share_of(*closed) == 4);
    CHECK(served.size() == 2);
}

TEST_CASE("a limit that comes later gets what has been said, and one that has gone is forgotten") {
    ServedLimits served;
    served.stand({noon.steady + 1s, true, true}, noon.steady);
    limits::LimitPtr limit = limit_of_ten();
    served.add(limit, OnStoreFailure::share, noon.steady);
    CHECK(limit->share_policy().asking());
    CHECK(limit->set_share({}, {{4, 0}, SteadyTime::max() - 1ns}, noon));
    CHECK(share_of(*limit) == 4);
    CHECK(served.size() == 1);
    limit.reset();
    served.stand({noon.steady + 2s, true, true}, noon.steady);
    CHECK(served.size() == 0);
}
