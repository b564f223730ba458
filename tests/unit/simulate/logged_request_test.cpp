#include "fixture.hpp"
#include "observe/access_log.hpp"
#include "simulate/log_line.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace stint;
using namespace stint::simulate;
using namespace stint::simulate::test;

TEST_CASE("a line is read back as it was written") {
    observe::AccessRecord record;
    record.time = noon + 123ms;
    record.client = "2001:db8::1";
    record.host = "Shop.Example:8080";
    record.route = "product";
    record.method = "POST";
    record.path = "/a?b=\"c\"";
    record.limit = "per_client";
    record.status = 429;
    record.outcome = observe::Outcome::refused;
    record.duration = 1'234'567us;
    const std::array fields{observe::LoggedField{"x-api-key", "k\xc3\xa4"}};
    record.fields = fields;
    std::string text;
    observe::format(text, record);

    const auto request = parse_stint_line(text);

    REQUIRE(request.has_value());
    CHECK(request->time == record.time);
    CHECK(request->duration == record.duration);
    CHECK(request->request.client == record.client);
    CHECK(request->request.host == record.host);
    CHECK(request->request.method == record.method);
    CHECK(request->request.target == record.path);
    CHECK(request->route == record.route);
    CHECK(request->limit == record.limit);
    CHECK(request->status == 429);
    CHECK(request->was_refused());
    CHECK(request->was_routed());
    REQUIRE(request->request.fields.size() == 1);
    CHECK(request->request.fields[0].second == "k\xc3\xa4");
}

TEST_CASE("what was rejected before routing was not routed, a 405 was") {
    const auto routed = [](const Json& more) {
        return parse_stint_line(line(0s, more))->was_routed();
    };

    CHECK(routed(Json::object()));
    CHECK(routed({{"decision", "rejected"}, {"status", 405}}));
    CHECK(routed({{"decision", "no_route"}, {"status", 404}}));
    CHECK_FALSE(routed({{"decision", "rejected"}, {"status", 400}}));
    CHECK_FALSE(routed({{"method", nullptr}, {"decision", "client_gone"}, {"status", 408}}));
}

TEST_CASE("what is no line of an access log says why") {
    const auto why = [](const char* text) { return parse_stint_line(text).error(); };

    CHECK(why("") == "not a JSON object");
    CHECK(why("{\"time\":") == "not a JSON object");
    CHECK(why("[1]") == "not a JSON object");
    CHECK(why("192.0.2.1 - - [21/Nov/2026] \"GET /\"") == "not a JSON object");
    CHECK(why("{\"level\":\"info\"}").find("\"time\"") != std::string::npos);
    CHECK(
        why(R"({"time":"yesterday","decision":"refused"})") ==
        "\"yesterday\" is not a time such as 2026-11-21T11:02:37.751Z");
}

TEST_CASE("times are RFC 3339 in any offset and precision") {
    const auto read = [](const char* text) { return *parse_time(text); };

    CHECK(read("2026-11-21T12:00:00Z") == noon);
    CHECK(read("2026-11-21T12:00:00.5Z") == noon + 500ms);
    CHECK(read("2026-11-21T12:00:00.000000001Z") == noon + 1ns);
    CHECK(read("2026-11-21T13:30:00+01:30") == noon);
    CHECK(read("2026-11-21T04:00:00-08:00") == noon);
}

TEST_CASE("what is not a time is not taken for one") {
    for (const char* text :
         {"", "2026", "2026-11-21", "2026-11-21T12:00:00", "2026-13-21T12:00:00Z",
          "2026-02-30T12:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T12:60:00Z",
          "2026-11-21T12:00:00.Z", "2026-11-21T12:00:00+1:30", "2026-11-21T12:00:00Zx",
          "1969-11-21T12:00:00Z", "9999-11-21T12:00:00Z", "2026-11-21T12:00:-1Z"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_time(text).has_value());
    }
}
