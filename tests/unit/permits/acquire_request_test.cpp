#include "permits/acquire_request.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace stint;
using namespace stint::permits;
using namespace std::chrono_literals;

namespace {

std::string mistake_in_take(std::string_view body) {
    RequestReader reader;
    const auto ask = reader.read_take(body, "shop");
    return ask ? "(none)" : ask.error();
}

std::string mistake_in_list(std::string_view body) {
    RequestReader reader;
    const auto ask = reader.read_take(body, std::nullopt);
    return ask ? "(none)" : ask.error();
}

} // namespace

TEST_CASE("an empty body takes one") {
    RequestReader reader;
    for (const std::string_view body : {"", "{}", " {} "}) {
        const auto ask = reader.read_take(body, "shop");
        REQUIRE(ask.has_value());
        REQUIRE(ask->limits.size() == 1);
        CHECK(ask->limits[0].name == "shop");
        CHECK(!ask->limits[0].key);
        CHECK(ask->limits[0].cost == 1);
        CHECK(!ask->limits[0].brought);
        CHECK(ask->wait == Duration::zero());
        CHECK(ask->batch == 0);
        CHECK(!ask->ticket);
        CHECK(!ask->listed);
    }
}

TEST_CASE("all that may be said of one take") {
    RequestReader reader;
    const auto ask = reader.read_take(
        R"({"key":"kü\u0000\n","cost":0,"wait_ms":250,"owner":"o","idempotency_key":"i","ticket":true,)"
        R"("requests":4,"per_ms":1500})",
        "shop");
    REQUIRE(ask.has_value());
    CHECK(ask->limits[0].key == std::string_view{"kü\0\n", 5});
    CHECK(ask->limits[0].cost == 0);
    CHECK(ask->limits[0].brought == Brought{4, 1500ms});
    CHECK(ask->wait == Duration{250ms});
    CHECK(ask->owner == "o");
    CHECK(ask->idempotency_key == "i");
    CHECK(ask->ticket);
    REQUIRE(reader.read_take(R"({"batch":1000})", "shop").has_value());
    CHECK(reader.read_take(R"({"batch":1000})", "shop")->batch == 1000);
}

TEST_CASE("a member that is there twice is a mistake, however it is spelt, at any depth") {
    constexpr std::string_view twice = "The body has a member twice.";
    for (const std::string_view body :
         {R"({"cost":1,"cost":1000})", R"({"cost":1,"co\u0073t":1})", R"({"key":"a:b","key":null})",
          R"({ "wait_ms" : 0 , "key":"x" , "wait_ms" : 0 })"})
        CHECK_MESSAGE(mistake_in_take(body) == twice, body);
    CHECK(mistake_in_list(R"({"limits":[{"name":"a","name":"b"}]})") == twice);
    CHECK(mistake_in_list(R"({"limits":[{"name":"a"}],"limits":[{"name":"a"}]})") == twice);
    RequestReader reader;
    CHECK(reader.read_feedback(R"({"route":"r","status":429,"status":503})").error() == twice);
    CHECK(reader.read_lease(R"({"max":1,"max":100})", 60s).error() == twice);
    CHECK(reader.read_renewal(R"({"ttl_ms":1,"ttl_ms":60000})", 60s).error() == twice);

    for (const std::string_view body :
         {R"({"key":"\"a\":1,\\","cost":1})", R"({"key":":","owner":"::"})"})
        CHECK_MESSAGE(mistake_in_take(body) == "(none)", body);
    CHECK(mistake_in_list(R"({"limits":[{"name":"a"},{"name":"a"}]})") == "(none)");
}

TEST_CASE("a list of limits") {
    RequestReader reader;
    const auto ask = reader.read_take(
        R"({"limits":[{"name":"a","key":"x","cost":2},{"name":"b","requests":4,"per_ms":1000}],"wait_ms":1})",
        std::nullopt);
    REQUIRE(ask.has_value());
    CHECK(ask->listed);
    REQUIRE(ask->limits.size() == 2);
    CHECK(ask->limits[0].name == "a");
    CHECK(ask->limits[0].cost == 2);
    CHECK(ask->limits[1].brought == Brought{4, 1s});
}

TEST_CASE("what is wrong with an ask is said") {
    CHECK(mistake_in_take("{").starts_with("The body is not JSON"));
    CHECK(mistake_in_take("{}{}").starts_with("The body is not JSON"));
    CHECK(mistake_in_take("{\"key\":\"\xff\"}").starts_with("The body is not JSON"));
    CHECK(mistake_in_take("[]") == R"(The body must be a JSON object such as {"cost": 1}.)");
    CHECK(
        mistake_in_take(R"({"costs":1})") ==
        R"("costs" is unknown: there are key, cost, wait_ms, owner, idempotency_key, ticket, batch, )"
        "requests, per_ms.");
    CHECK(mistake_in_take(R"({"key":1})") == R"("key" must be a text.)");
    for (const std::string_view cost :
         {"-1", "1.5", "\"1\"", "2.0", "1e3", "1000000000001", "true"})
        CHECK_MESSAGE(
            mistake_in_take("{\"cost\":" + std::string{cost} + "}") ==
                R"("cost" must be a whole number from 0 to 1000000000000.)",
            cost);
    CHECK(
        mistake_in_take(R"({"wait_ms":60001})") ==
        R"("wait_ms" must be a whole number from 0 to 60000.)");
    CHECK(mistake_in_take(R"({"ticket":1})") == R"("ticket" must be true or false.)");
    CHECK(mistake_in_take(R"({"idempotency_key":""})") == R"("idempotency_key" is empty.)");
    CHECK(
        mistake_in_take(R"({"requests":1})") ==
        R"("requests" and "per_ms" bring a limit together; one of them is missing.)");
    CHECK(
        mistake_in_take(R"({"batch":5,"cost":1})") ==
        R"("batch" goes with neither "cost" nor "ticket".)");
    CHECK(
        mistake_in_take("{\"key\":\"" + std::string(1025, 'k') + "\"}") ==
        R"("key" is longer than 1024 bytes.)");
    CHECK(mistake_in_take("{\"key\":" + std::string(40, '[') + std::string(40, ']') + "}")
              .starts_with("The body is not JSON"));
    CHECK(
        mistake_in_list("{}") == R"("limits" must be a list of objects such as {"name": "shop"}.)");
    CHECK(
        mistake_in_list(R"({"limits":[{}]})") ==
        R"(Each of "limits" needs the "name" of a limit.)");
    CHECK(
        mistake_in_list(R"({"limits":[1]})") ==
        R"(Each of "limits" must be an object such as {"name": "shop"}.)");
    std::string many = R"({"limits":[{"name":"a"})";
    for (int i = 0; i < 16; ++i)
        many += R"(,{"name":"b"})";
    CHECK(mistake_in_list(many + "]}") == R"("limits" has more than 16 items.)");
}

TEST_CASE("a long ask is read as a short one, and the next one after it") {
    RequestReader reader;
    std::string body = R"({"limits":[)";
    for (int i = 0; i < 16; ++i)
        body += (i > 0 ? R"(,{"name":")" : R"({"name":")") + std::string(1000, 'n') + "\"}";
    body += "]}";
    REQUIRE(reader.read_take(body, std::nullopt).has_value());
    CHECK(reader.read_take(body, std::nullopt)->limits[15].name.size() == 1000);
    CHECK(reader.read_take("", "shop")->limits.size() == 1);
}

TEST_CASE("feedback") {
    RequestReader reader;
    const auto ask = reader.read_feedback(R"({"route":"r","status":429,"retry_after":"120"})");
    REQUIRE(ask.has_value());
    CHECK(ask->route == "r");
    CHECK(ask->status == 429);
    CHECK(ask->retry_after == "120");
    CHECK(!reader.read_feedback(R"({"status":429})").has_value());
    CHECK(!reader.read_feedback(R"({"route":"r","limit":"l","status":429})").has_value());
    CHECK(!reader.read_feedback(R"({"route":"r"})").has_value());
    CHECK(!reader.read_feedback(R"({"route":"r","status":99})").has_value());
}
