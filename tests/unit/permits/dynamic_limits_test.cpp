#include "permits/dynamic_limits.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <variant>

using namespace stint;
using namespace stint::permits;
using namespace std::chrono_literals;

namespace {

constexpr SteadyTime start{1h};

struct Fixture {
    limits::Registry registry;
    DynamicLimits limits{registry};
    std::uint64_t most = 2;

    std::variant<DynamicLimitPtr, DynamicLimits::Failure>
    ask(std::string_view name, std::optional<Brought> brought, SteadyTime now = start) {
        return limits.obtain(name, brought, most, 0, now);
    }
    DynamicLimitPtr
    get(std::string_view name, std::optional<Brought> brought, SteadyTime now = start) {
        auto found = ask(name, brought, now);
        REQUIRE(std::holds_alternative<DynamicLimitPtr>(found));
        return std::get<DynamicLimitPtr>(found);
    }
    DynamicLimits::Failure
    fail(std::string_view name, std::optional<Brought> brought, SteadyTime now = start) {
        auto found = ask(name, brought, now);
        REQUIRE(std::holds_alternative<DynamicLimits::Failure>(found));
        return std::get<DynamicLimits::Failure>(found);
    }
};

} // namespace

TEST_CASE("the first caller that brings a limit makes it, and it is the same for all") {
    Fixture fixture;
    CHECK(fixture.fail("a", std::nullopt) == DynamicLimits::Failure::unknown);
    const DynamicLimitPtr made = fixture.get("a", Brought{4, 1s});
    CHECK(made->terms->quota == 4);
    CHECK(made->terms->limit->identity().per == Duration{1s});
    CHECK(made->terms->limit->keyed());
    CHECK(fixture.get("a", Brought{4, 1s}) == made);
    CHECK(fixture.get("a", std::nullopt) == made);
    CHECK(fixture.fail("a", Brought{5, 1s}) == DynamicLimits::Failure::different);
    CHECK(fixture.fail("a", Brought{4, 2s}) == DynamicLimits::Failure::different);
}

TEST_CASE("other numbers are taken once nobody uses the former ones") {
    Fixture fixture;
    fixture.get("a", Brought{4, 1s});
    CHECK(fixture.get("a", Brought{5, 1s}, start + 2s)->terms->quota == 5);
}

TEST_CASE("they are bounded, and idle ones make room") {
    Fixture fixture;
    fixture.get("a", Brought{4, 1s});
    fixture.get("b", Brought{4, 10s});
    CHECK(fixture.fail("c", Brought{4, 1s}) == DynamicLimits::Failure::too_many);
    CHECK(fixture.fail("c", Brought{4, 1s}, start + 1999ms) == DynamicLimits::Failure::too_many);
    fixture.get("c", Brought{4, 1s}, start + 2s);
    CHECK(fixture.limits.size() == 2);
    CHECK(fixture.fail("a", std::nullopt, start + 2s) == DynamicLimits::Failure::unknown);
    fixture.get("b", std::nullopt, start + 2s);
    fixture.most = 0;
    CHECK(fixture.fail("d", Brought{1, 1s}) == DynamicLimits::Failure::unknown);
}
