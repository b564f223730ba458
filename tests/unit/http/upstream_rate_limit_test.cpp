#include "http/upstream_rate_limit.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::http;
using namespace std::chrono_literals;

constexpr WallTime now{1'700'000'000s};

Field field(std::string_view name, std::string_view value) {
    return {FieldId::other, name, value};
}

// "remaining/seconds", or "-" where nothing is told.
std::string told(const std::vector<Field>& fields) {
    const auto quota = parse_upstream_rate_limit(fields, now);
    if (!quota)
        return "-";
    return std::to_string(quota->remaining) + "/" +
           std::to_string(std::chrono::duration<double>(quota->reset).count());
}

std::string told(std::string_view name, std::string_view value) {
    return told(std::vector<Field>{field(name, value)});
}

} // namespace

TEST_CASE("the current draft's field is read") {
    CHECK(told("RateLimit", R"("a";r=5;t=10)") == "5/10.000000");
    CHECK(told("ratelimit", R"("a";r=5;t=10;pk=:YWI=:, "b";r=1;t=60)") == "1/60.000000");
    CHECK(told("RateLimit", R"("a";r=50;t=10, "b";r=0;t=1)") == "0/1.000000");
}

TEST_CASE("policies that do not count requests are passed over") {
    CHECK(
        told(
            {field("RateLimit-Policy", R"("bytes";q=9;qu="content-bytes", "n";q=5;w=9)"),
             field("RateLimit", R"("bytes";r=0;t=60, "n";r=4;t=8)")}) == "4/8.000000");
}

TEST_CASE("the older drafts' fields are read") {
    CHECK(told("RateLimit", "limit=100, remaining=50, reset=5") == "50/5.000000");
    CHECK(told("RateLimit", "default;r=50;t=30, burst;r=1;t=2") == "1/2.000000");
    CHECK(
        told({field("RateLimit-Remaining", "7"), field("RateLimit-Reset", "30")}) == "7/30.000000");
}

TEST_CASE("the de-facto fields are read, seconds or Unix time") {
    const auto pair = [](std::string_view reset) {
        return told({field("X-RateLimit-Remaining", "7"), field("X-RateLimit-Reset", reset)});
    };

    CHECK(pair("30") == "7/30.000000");
    CHECK(pair("1700000030") == "7/30.000000");
    CHECK(pair("1700000030000") == "7/30.000000");
    CHECK(pair("1700000029.5") == "7/30.000000");
    CHECK(pair("1699999999") == "7/0.000000");
    CHECK(
        told({field("x-rate-limit-remaining", "1"), field("x-rate-limit-reset", "1700000060")}) ==
        "1/60.000000");
}

TEST_CASE("Unix time is compared with the response's own Date") {
    CHECK(
        told(
            {field("X-RateLimit-Remaining", "7"), field("X-RateLimit-Reset", "1700000030"),
             field("Date", "Tue, 14 Nov 2023 22:13:30 GMT")}) == "7/20.000000");
}

TEST_CASE("of all that is told the tightest counts") {
    CHECK(
        told(
            {field("X-RateLimit-Remaining", "100"), field("X-RateLimit-Reset", "50"),
             field("RateLimit", R"("a";r=5;t=10)")}) == "5/10.000000");
}

TEST_CASE("what is malformed or half tells nothing") {
    CHECK(told({}) == "-");
    CHECK(told("RateLimit", R"("a";r=5)") == "-");
    CHECK(told("RateLimit", "nonsense") == "-");
    CHECK(told("RateLimit", R"("a";r=-5;t=1)") == "-");
    CHECK(told("X-RateLimit-Remaining", "5") == "-");
    CHECK(told({field("X-RateLimit-Remaining", "five"), field("X-RateLimit-Reset", "5")}) == "-");
    CHECK(told({field("X-RateLimit-Remaining", "5x"), field("X-RateLimit-Reset", "5")}) == "-");
    CHECK(told({field("X-RateLimit-Remaining", "-5"), field("X-RateLimit-Reset", "5")}) == "-");
}

TEST_CASE("numbers without measure do no harm") {
    CHECK(
        told("RateLimit", R"("a";r=999999999999999;t=999999999)") ==
        "999999999999999/31622400.000000");
    CHECK(
        told(
            {field("X-RateLimit-Remaining", "1"), field("X-RateLimit-Reset", "999999999999999")}) ==
        "1/31622400.000000");
    CHECK(
        told(
            {field("X-RateLimit-Remaining", "1"),
             field("X-RateLimit-Reset", "9999999999999999")}) == "-");
}
