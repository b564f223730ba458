// What GET /limits/NAME shows of a limit's settings.
#include "admin/config_json.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ostream>

namespace {

using namespace std::chrono_literals;
using namespace stint;
using namespace stint::admin;

config::Limit per_client() {
    config::Limit window;
    window.name = "per_client";
    window.quota = 100;
    window.per = 1min;
    window.key = {{config::KeySource::Kind::client_ip, ""}};
    return window;
}

} // namespace

TEST_CASE("a limit's settings have their units in the names, in the order of the file") {
    config::Limit window = per_client();
    window.wait = config::Limit::Wait{};
    CHECK(
        limit_settings_json(window) == Json{
                                           {"kind", "window"},
                                           {"limit", 100},
                                           {"per_ms", 60'000},
                                           {"algorithm", "fixed_window"},
                                           {"anchor", "first_request"},
                                           {"pace", false},
                                           {"enforce", true},
                                           {"cost", 1},
                                           {"key", "client_ip"},
                                           {"missing_key", "share"},
                                           {"max_keys", 1'000'000},
                                           {"ipv4_prefix", 32},
                                           {"ipv6_prefix", 64},
                                           {"when_exceeded", "wait"},
                                           {"max_wait_ms", 2000},
                                           {"max_waiting", 1000},
                                           {"fair_by", "client_ip"}});
    config::Limit cap;
    cap.name = "all.2";
    cap.route = "all";
    cap.kind = config::Limit::Kind::cap;
    cap.quota = 3;
    CHECK(
        limit_settings_json(cap) == Json{
                                        {"kind", "cap"},
                                        {"limit", 3},
                                        {"ws_holds_slot", true},
                                        {"enforce", true},
                                        {"cost", 1},
                                        {"route", "all"}});
}

TEST_CASE("how a limit counts is shown") {
    config::Limit limit = per_client();
    limit.algorithm = config::Limit::Algorithm::token_bucket;
    limit.burst = 20;
    limit.enforce = false;
    limit.cost = 10;
    limit.cost_response_field = "x-cost";
    limit.count_when = {401};
    limit.refund = {502, 503};
    const Json bucket = limit_settings_json(limit);

    CHECK(bucket["algorithm"] == "token_bucket");
    CHECK(bucket["burst"] == 20);
    CHECK_FALSE(bucket.contains("anchor"));
    CHECK(bucket["enforce"] == false);
    CHECK(bucket["cost"] == "header:x-cost");
    CHECK(bucket["reserve"] == 10);
    CHECK(bucket["count_when"] == Json{{"status", {401}}});
    CHECK(bucket["refund"] == Json{502, 503});
}

TEST_CASE("a calendar's window shows its unit and its zone") {
    config::Limit limit = per_client();
    limit.calendar = {CalendarUnit::month, "Europe/Berlin"};
    const Json month = limit_settings_json(limit);

    CHECK(month["per"] == "month");
    CHECK(month["time_zone"] == "Europe/Berlin");
    CHECK_FALSE(month.contains("per_ms"));
    CHECK_FALSE(month.contains("anchor"));
}

TEST_CASE("a limit's exceptions are shown where there are any") {
    config::Limit limit;
    limit.key = {{config::KeySource::Kind::host, ""}};
    limit.overrides = {{"a.example", 7}, {"*.example", 8}};
    limit.exempt = {{Cidr::parse("10.0.0.0/8").value()}, {"${b.example}"}};

    const Json shown = limit_settings_json(limit);

    CHECK(shown["overrides"] == Json{{"a.example", {{"limit", 7}}}, {"*.example", {{"limit", 8}}}});
    CHECK(shown["exempt"] == Json::array({"10.0.0.0/8", "${b.example}"}));
    CHECK_FALSE(shown.contains("deny"));
}

TEST_CASE("whether a limit reserves, and for whom, is shown where it does") {
    config::Limit limit;
    CHECK_FALSE(limit_settings_json(limit).contains("retry_after"));
    limit.reserve_for = {config::KeySource{}, {config::KeySource::Kind::host, ""}};

    const Json shown = limit_settings_json(limit);

    CHECK(shown["retry_after"] == "reserve");
    CHECK(shown["reserve_for"] == Json::array({"client_ip", "host"}));
}

TEST_CASE("a key of several parts is shown as a list, prefixes only with an address") {
    config::Limit limit;
    limit.key = {
        {config::KeySource::Kind::host, ""}, {config::KeySource::Kind::header, "x-api-key"}};
    limit.missing_key = config::Limit::MissingKey::refuse;

    const Json shown = limit_settings_json(limit);

    CHECK(shown["key"] == Json::array({"host", "header:x-api-key"}));
    CHECK(shown["missing_key"] == "refuse");
    CHECK_FALSE(shown.contains("ipv6_prefix"));
}
