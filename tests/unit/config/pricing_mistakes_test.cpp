// How limits count: what is read, and mistakes in it.
#include "config_support.hpp"

namespace stint::config {

namespace {

// `limit` stands at 4:6.
void check_limit(
    std::string_view limit,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_added("limits:\n  a: " + std::string{limit} + "\nroutes: []\n", expected, at);
}

Limit read(std::string_view limit) {
    const std::string text =
        std::string{base} + "limits: {a: " + std::string{limit} + "}\nroutes: []\n";
    return loaded(text).limits[0];
}

} // namespace

TEST_CASE("an algorithm, its burst and its pace are read") {
    const Limit bucket = read("{requests: 5, per: 1s, algorithm: token_bucket, burst: 20}");
    CHECK(bucket.algorithm == Limit::Algorithm::token_bucket);
    CHECK(bucket.burst == 20);
    CHECK(
        read("{requests: 5, per: 1s, algorithm: sliding_window}").algorithm ==
        Limit::Algorithm::sliding_window);
    CHECK(read("{requests: 5, per: 1s, pace: true}").pace);
    CHECK(read("{requests: 5, per: 1s}").algorithm == Limit::Algorithm::fixed_window);
}

TEST_CASE("what belongs to one algorithm is a mistake elsewhere") {
    check_limit(
        "{requests: 1, per: 1s, algorithm: leaky}",
        {"4:40: limits.a.algorithm: \"leaky\" is unknown; expected fixed_window"});
    check_limit(
        "{requests: 1, per: 1s, burst: 2}",
        {"4:29: limits.a.burst: is only for algorithm: token_bucket"});
    check_limit(
        "{requests: 1, per: 1s, algorithm: token_bucket, pace: true, burst: 2}",
        {"4:66: limits.a.burst: excludes pace"});
    check_limit(
        "{requests: 1, per: 1s, algorithm: sliding_window, anchor: clock}",
        {"4:56: limits.a.anchor: is only for algorithm: fixed_window"});
    check_limit(
        "{requests: 1, per: 366d, algorithm: token_bucket, burst: 2}",
        {"4:56: limits.a.burst: would take more than 366 days to fill"});
    check_limit(
        "{concurrent: 1, algorithm: token_bucket, burst: 1, pace: true}",
        {"4:22: limits.a.algorithm: belongs to a window", "4:47: limits.a.burst: belongs to",
         "4:57: limits.a.pace: belongs to"});
}

TEST_CASE("a cost is a number, or a field of the request or of the answer") {
    CHECK(read("{requests: 5, per: 1s, cost: 3}").cost == 3);
    CHECK(read("{requests: 5, per: 1s, cost: header:X-Cost}").cost_request_field == "x-cost");
    const Limit limit = read("{requests: 5, per: 1s, cost: header:X-Cost, reserve: 4}");
    CHECK(limit.cost_response_field == "x-cost");
    CHECK(limit.cost_request_field.empty());
    CHECK(limit.cost == 4);
}

TEST_CASE("a cost that no request could pay is a mistake") {
    check_limit(
        "{requests: 5, per: 1s, cost: 6}",
        {"4:29: limits.a.cost: is more than the limit ever has (5)"});
    check_limit(
        "{requests: 5, per: 1s, cost: header:x, reserve: 6}",
        {"4:45: limits.a.reserve: is more than the limit ever has (5)"});
    check_limit(
        "{requests: 5, per: 1s, algorithm: token_bucket, burst: 2, cost: 3}",
        {"4:64: limits.a.cost: is more than the limit ever has (2)"});
    check_limit("{requests: 5, per: 1s, cost: 0}", {"4:35: limits.a.cost: \"0\" is zero"});
    check_limit(
        "{requests: 5, per: 1s, cost: 2, reserve: 3}",
        {"4:38: limits.a.reserve: is only for a cost that the answer tells"});
    check_limit(
        "{requests: 5, per: 1s, reserve: 3}", {"4:29: limits.a.reserve: needs cost: header:NAME"});
}

TEST_CASE("statuses that count and that are refunded are lists of statuses") {
    const Limit limit =
        read("{requests: 5, per: 1s, count_when: {status: [401, 403]}, refund: [499, 502]}");
    CHECK(limit.count_when == std::vector<std::uint16_t>{401, 403});
    CHECK(limit.refund == std::vector<std::uint16_t>{499, 502});

    check_limit(
        "{requests: 1, per: 1s, refund: [99, 600, 503, 503]}",
        {"4:38: limits.a.refund[0]: \"99\" is too small",
         "4:42: limits.a.refund[1]: \"600\" is too large",
         "4:52: limits.a.refund[3]: is in the list already"});
    check_limit("{requests: 1, per: 1s, refund: []}", {"4:37: limits.a.refund: is empty"});
    check_limit(
        "{requests: 1, per: 1s, count_when: {}}", {"4:41: limits.a.count_when: status is missing"});
    check_limit(
        "{concurrent: 1, count_when: {status: [401]}, refund: [503]}",
        {"4:22: limits.a.count_when: belongs to a window", "4:51: limits.a.refund: belongs to"});
}

TEST_CASE("a window may be a day, a week or a month of a time zone") {
    const Limit limit = read("{requests: 5, per: week, time_zone: Europe/Berlin}");
    REQUIRE(limit.calendar.has_value());
    CHECK(limit.calendar->unit == CalendarUnit::week);
    CHECK(limit.calendar->time_zone == "Europe/Berlin");
    CHECK(read("{requests: 5, per: day}").calendar->time_zone == "UTC");
    CHECK_FALSE(read("{requests: 5, per: 1d}").calendar);

    check_limit(
        "{requests: 1, per: day, time_zone: Berlin}",
        {"4:41: limits.a.time_zone: \"Berlin\" is not a time zone"});
    check_limit(
        "{requests: 1, per: 1d, time_zone: UTC}",
        {"4:29: limits.a.time_zone: is only for per: day, week or month"});
    check_limit(
        "{requests: 1, per: day, anchor: clock}",
        {"4:30: limits.a.anchor: is not for per: day, week or month"});
    check_limit(
        "{requests: 1, per: day, algorithm: token_bucket}",
        {"4:30: limits.a.algorithm: is not for per: day"});
    check_limit("{concurrent: 1, time_zone: UTC}", {"4:22: limits.a.time_zone: belongs to"});
}

TEST_CASE("a limit may be there only to look on") {
    CHECK_FALSE(read("{requests: 5, per: 1s, enforce: false}").enforce);
    CHECK(read("{requests: 5, per: 1s}").enforce);
    check_limit(
        "{requests: 1, per: 1s, enforce: maybe}",
        {"4:38: limits.a.enforce: \"maybe\" is neither true nor false"});
}

} // namespace stint::config
