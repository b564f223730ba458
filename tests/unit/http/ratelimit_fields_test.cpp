#include "http/ratelimit_fields.hpp"

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

const Now now{SteadyTime{100s}, WallTime{1'700'000'000s + 200ms}};

PolicyState window(
    std::string_view name,
    std::uint64_t quota,
    Duration per,
    std::uint64_t left,
    Duration more_in) {
    return {
        .name = name,
        .quota = quota,
        .remaining = left,
        .window = per,
        .more_at = now.steady + more_in,
        .draft = true};
}

PolicyState legacy(PolicyState policy) {
    policy.draft = false;
    policy.legacy = true;
    return policy;
}

std::string written(
    const std::vector<PolicyState>& policies,
    const std::vector<Field>& theirs = {},
    LegacyStyle style = {}) {
    HeadBuffer out;
    write_policy_fields(out, {policies, style, now}, theirs);
    return std::string{out.view()};
}

Field field(std::string_view name, std::string_view value) {
    return {FieldId::other, name, value};
}

} // namespace

TEST_CASE("each limit is a member of both fields") {
    PolicyState burst = window("burst", 100, 1min, 0, 12s);
    burst.keyed = true;
    burst.partition = 0x707b'1db1'16bc'f3df;

    CHECK(
        written({burst, window("daily", 1000, 24h, 412, 10h)}) ==
        "RateLimit-Policy: \"burst\";q=100;w=60;pk=:cHsdsRa8898=:, \"daily\";q=1000;w=86400\r\n"
        "RateLimit: \"burst\";r=0;t=12;pk=:cHsdsRa8898=:, \"daily\";r=412;t=36000\r\n");
}

TEST_CASE("a cap counts what is in flight and has no window") {
    const PolicyState cap{.name = "inflight", .quota = 20, .remaining = 3, .draft = true};

    CHECK(
        written({cap}) == "RateLimit-Policy: \"inflight\";q=20;qu=\"concurrent-requests\"\r\n"
                          "RateLimit: \"inflight\";r=3\r\n");
}

TEST_CASE("times are whole seconds, rounded up") {
    CHECK(
        written({window("a", 5, 800ms, 4, 1ns)}) ==
        "RateLimit-Policy: \"a\";q=5;w=1\r\nRateLimit: \"a\";r=4;t=1\r\n");
    CHECK(
        written({window("a", 5, 1500ms, 4, -3s)}) ==
        "RateLimit-Policy: \"a\";q=5;w=2\r\nRateLimit: \"a\";r=4;t=0\r\n");
}

TEST_CASE("a number has at most the digits of an Integer") {
    const std::string fields = written({window("a", ~std::uint64_t{0}, 1s, ~std::uint64_t{0}, 1s)});

    CHECK(fields.find("q=999999999999999;") != std::string::npos);
    CHECK(fields.find("r=999999999999999;") != std::string::npos);
}

TEST_CASE("a name is escaped") {
    CHECK(written({window("a\"b\\", 1, 1s, 1, 1s)}).find(R"("a\"b\\";q)") != std::string::npos);
}

TEST_CASE("limits that are not told leave no field") {
    PolicyState hidden = window("a", 1, 1s, 1, 1s);
    hidden.draft = false;

    CHECK(written({hidden}).empty());
    CHECK(written({}).empty());
}

TEST_CASE("a name that the upstream uses is changed, in both fields") {
    const std::string fields = written(
        {window("burst", 10, 1s, 9, 1s), window("day", 99, 24h, 98, 1h)},
        {field("RateLimit-policy", "\"burst\";q=5;w=1, \"stint-burst\";q=1"),
         field("ratelimit", "\"day\";r=1")});

    CHECK(
        fields == "RateLimit-Policy: \"stint-stint-burst\";q=10;w=1, \"stint-day\";q=99;w=86400\r\n"
                  "RateLimit: \"stint-stint-burst\";r=9;t=1, \"stint-day\";r=98;t=3600\r\n");
}

TEST_CASE("a field of the upstream that is no list of strings stays alone") {
    const std::vector<PolicyState> ours{window("a", 10, 1s, 9, 1s)};

    CHECK(written(ours, {field("RateLimit", "limit=100, remaining=50, reset=5")}).empty());
    CHECK(written(ours, {field("RateLimit-Policy", "100;w=60")}).empty());
    CHECK_FALSE(written(ours, {field("RateLimit", "")}).empty());
    CHECK_FALSE(written(ours, {field("RateLimit-Other", "100;w=60")}).empty());
}

TEST_CASE("the older trio tells of the tightest window") {
    const auto tight = legacy(window("tight", 10, 1s, 3, 900ms));

    CHECK(
        written({legacy(window("wide", 100, 1min, 50, 30s)), tight}) ==
        "X-RateLimit-Limit: 10\r\nX-RateLimit-Remaining: 3\r\nX-RateLimit-Reset: 1\r\n");
    CHECK(
        written({tight, legacy(window("longer", 20, 1min, 3, 30s))}) ==
        "X-RateLimit-Limit: 20\r\nX-RateLimit-Remaining: 3\r\nX-RateLimit-Reset: 30\r\n");
}

TEST_CASE("the older trio is never about a cap") {
    PolicyState cap{.name = "c", .quota = 2, .remaining = 0, .legacy = true};

    CHECK(written({cap}).empty());
    CHECK(
        written({cap, legacy(window("w", 5, 1s, 4, 1s))}) ==
        "X-RateLimit-Limit: 5\r\nX-RateLimit-Remaining: 4\r\nX-RateLimit-Reset: 1\r\n");
}

TEST_CASE("the older trio's spelling is a choice") {
    using Style = LegacyStyle;

    CHECK(
        written(
            {legacy(window("w", 5, 1s, 4, 900ms))}, {},
            {Style::Prefix::ratelimit, Style::Reset::epoch}) ==
        "RateLimit-Limit: 5\r\nRateLimit-Remaining: 4\r\nRateLimit-Reset: 1700000002\r\n");
}

TEST_CASE("an upstream's own trio stays alone") {
    const std::vector<PolicyState> ours{legacy(window("w", 5, 1s, 4, 1s))};

    CHECK(written(ours, {field("x-ratelimit-remaining", "7")}).empty());
    CHECK(written(ours, {field("RateLimit-Reset", "7")}).empty());
    CHECK_FALSE(written(ours, {field("X-RateLimit-Bucket", "7")}).empty());
    CHECK_FALSE(written(ours, {field("RateLimit", "\"a\";r=1")}).empty());
}

TEST_CASE("a partition shows neither half of a key's hash") {
    CHECK(partition_of({0xff00, 0x0ff0}) == 0xf0f0);
}
