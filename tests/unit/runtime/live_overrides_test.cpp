#include "runtime/live_overrides.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace stint;
using namespace stint::runtime;
using namespace std::chrono_literals;

namespace {

constexpr SteadyTime begin{1h};

LiveOverride made(std::string pattern, std::uint64_t quota, std::optional<Duration> lasting = {}) {
    LiveOverride override{std::move(pattern), {.quota = quota}, std::nullopt};
    if (lasting)
        override.expires = begin + *lasting;
    return override;
}

} // namespace

TEST_CASE("an override is of its limit alone and replaces the one before") {
    LiveOverrides all;
    REQUIRE(all.put("l", made("k", 1)));
    REQUIRE(all.put("l", made("k", 2)));
    REQUIRE(all.put("l2", made("k", 3)));

    REQUIRE(all.of("l").size() == 1);
    CHECK(all.of("l")[0].numbers.quota == 2);
    CHECK(all.of("").empty());
    CHECK(all.erase("l", "k"));
    CHECK_FALSE(all.erase("l", "k"));
    CHECK(all.of("l2").size() == 1);
}

TEST_CASE("an override ends at its instant, the next end is known") {
    LiveOverrides all;
    REQUIRE(all.put("l", made("a", 1)));
    CHECK_FALSE(all.next_end().has_value());
    REQUIRE(all.put("l", made("b", 1, 2s)));
    REQUIRE(all.put("l", made("c", 1, 1s)));
    CHECK(all.next_end() == begin + 1s);

    CHECK_FALSE(all.expire(begin + 1s - 1ns));
    CHECK(all.expire(begin + 1s));
    CHECK(all.of("l").size() == 2);
    CHECK(all.next_end() == begin + 2s);
}

TEST_CASE("there are at most as many as are kept, those that are there may be changed") {
    LiveOverrides all;
    for (std::size_t i = 0; i < LiveOverrides::most; ++i)
        REQUIRE(all.put("l", made(std::to_string(i), 1)));

    CHECK_FALSE(all.put("l", made("one more", 1)));
    CHECK(all.put("l", made("7", 2)));
}
