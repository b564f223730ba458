#include "admin/overrides.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using namespace stint;
using namespace stint::admin;

constexpr Now now{SteadyTime{1h}, WallTime{1h}};

config::Limit window() {
    config::Limit limit;
    limit.quota = 10;
    limit.per = 1min;
    return limit;
}

config::Limit bucket() {
    config::Limit limit = window();
    limit.algorithm = config::Limit::Algorithm::token_bucket;
    return limit;
}

config::Limit cap() {
    config::Limit limit;
    limit.kind = config::Limit::Kind::cap;
    limit.quota = 10;
    return limit;
}

void check_wrong(const config::Limit& limit, std::string_view body, std::string_view why) {
    CAPTURE(body);
    const auto read = override_in(body, limit, "k", now);
    REQUIRE(read.has_error());
    CHECK(read.error().status == 400);
    CAPTURE(read.error().body);
    CHECK(
        Json::parse(read.error().body)["detail"].get<std::string>().find(why) != std::string::npos);
}

} // namespace

TEST_CASE("an override has a number of its limit's kind, and may end by itself") {
    const auto read =
        override_in(R"({"requests": 200, "expires_in_ms": 1500})", window(), "k", now);
    REQUIRE(read.has_value());
    CHECK(read->target.key == "k");
    CHECK(read->numbers == limits::Numbers{.quota = 200});
    CHECK(read->expires == now.steady + 1500ms);

    const auto attributed = override_in(
        R"({"requests": 200, "for": "2h", "who": "ann", "why": "launch"})", window(), "", now);
    REQUIRE(attributed.has_value());
    CHECK(attributed->expires == now.steady + 2h);
    CHECK(attributed->by == runtime::Attribution{"ann", "launch"});

    const auto of_cap = override_in(R"({"concurrent": 3})", cap(), "k", now);
    REQUIRE(of_cap.has_value());
    CHECK(of_cap->numbers.quota == 3);
    CHECK_FALSE(of_cap->expires);
}

TEST_CASE("an override of a token bucket may have a burst") {
    const auto read = override_in(R"({"requests": 200, "burst": 7})", bucket(), "k", now);
    REQUIRE(read.has_value());
    CHECK(read->numbers == limits::Numbers{200, 7});

    config::Limit large = bucket();
    large.burst = 1'000'000;
    check_wrong( // its own burst
        large, R"({"requests": 1})",
        R"("requests" would take more than 366 days to fill the limit's burst (1000000); expected)");

    check_wrong(window(), R"({"requests": 200, "burst": 7})", R"("burst" is unknown)");
    check_wrong(bucket(), R"({"requests": 1, "burst": 900000000})", "more than 366 days to fill");
}

TEST_CASE("an override is at least what a request costs") {
    config::Limit costly = window();
    costly.cost = 5;
    CHECK(override_in(R"({"requests": 5})", costly, "k", now).has_value());
    check_wrong(
        costly, R"({"requests": 4})",
        R"("requests" is 4, less than a request costs (5), so every request would be refused)");
    config::Limit of_bucket = bucket();
    of_bucket.cost = 5;
    check_wrong(of_bucket, R"({"requests": 9, "burst": 4})", R"("burst" is 4, less than)");
    of_bucket.burst = 6;
    CHECK(override_in(R"({"requests": 1})", of_bucket, "k", now).has_value());
}

TEST_CASE("a mistake in an override says what is expected") {
    check_wrong(window(), "", "must be a JSON object");
    check_wrong(window(), "[]", "must be a JSON object");
    check_wrong(window(), "{}", R"("requests" is missing)");
    check_wrong(
        window(), R"({"requests": 1, "r\u0065quests": 1000})", R"(The body has "requests" twice.)");
    check_wrong(window(), R"({"requests": 0})", "a whole number from 1 to 1000000000000");
    check_wrong(window(), R"({"requests": 0})", "to refuse a key, POST to /limits/NAME/block");
    check_wrong(window(), R"({"requests": 1, "for": 1})", R"("for" must be a duration)");
    check_wrong(window(), R"({"requests": 1, "for": "0s"})", R"("for" must be a duration)");
    check_wrong(window(), R"({"requests": 1, "for": "1h", "expires_in_ms": 1})", "both");
    check_wrong(
        window(), R"({"requests": 1, "why": "a\nb"})", R"("why" must be a text of one line)");
    check_wrong(window(), R"({"requests": 1, "who": 7})", R"("who" must be a text of one line)");
    check_wrong(window(), R"({"requests": -1})", "a whole number from 1");
    check_wrong(window(), R"({"requests": 1.5})", "a whole number from 1");
    check_wrong(window(), R"({"requests": "9"})", "a whole number from 1");
    check_wrong(window(), R"({"concurrent": 1})", R"("concurrent" is unknown)");
    check_wrong(cap(), R"({"concurrent": 1000001})", "a whole number from 1 to 1000000");
    check_wrong( // and no word about blocks
        window(), R"({"requests": 1, "expires_in_ms": 0})",
        R"("expires_in_ms" must be a whole number from 1 to 31622400000.)");
}
