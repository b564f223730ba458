#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

using namespace stint;
using namespace stint::test;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view some_limits =
    "permits: {address: 127.0.0.1:2, dynamic_limits: 2}\n"
    "limits:\n"
    "  two: {requests: 2, per: 1h}\n"
    "  keyed: {requests: 2, per: 1h, key: permit_key, deny: [evil], exempt: [boss], overrides: "
    "{big: {requests: 9}}}\n"
    "  by_address: {requests: 2, per: 1h, key: client_ip}\n"
    "  slot: {concurrent: 1}\n"
    "  bucket: {requests: 2, per: 1h, algorithm: token_bucket}\n"
    "  own: {requests: 1, per: 1h, status: 503, body: {content_type: text/plain, text: no}}\n"
    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [two]}]";

} // namespace

TEST_CASE("a take is granted while there is room, and refused with when to come back") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    CHECK(
        body_of(ask(caller, take("two"))) ==
        R"({"granted":true,"limit":2,"remaining":1,"reset_ms":3600000,"waited_ms":0})"
        "\n");
    CHECK(has(ask(caller, take("two")), R"("remaining":0,)"));
    const std::string refusal = ask(caller, take("two"));
    CHECK(has(refusal, "HTTP/1.1 429 "));
    CHECK(has(refusal, "\r\nRetry-After: 3600\r\n"));
    CHECK(has(refusal, "\r\nRetry-After-Ms: "));
    CHECK(has(refusal, "application/problem+json"));
    CHECK(has(refusal, R"("limit":"two")"));
    CHECK(gateway.limit("two").refused() == 1);
}

TEST_CASE("permits and proxied requests share the counters") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    ask(caller, take("two"));
    ask(caller, take("two"));
    Wire client = gateway.connect();
    CHECK(has(ask(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "429"));
}

TEST_CASE("a cost of 0 only looks") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    for (int i = 0; i < 5; ++i)
        CHECK(has(ask(caller, take("two", R"({"cost":0})")), R"("remaining":2,"reset_ms":0)"));
    ask(caller, take("two", R"({"cost":2})"));
    CHECK(has(ask(caller, take("two", R"({"cost":0})")), R"("remaining":0)"));
    CHECK(has(ask(caller, take("two", R"({"cost":3})")), "HTTP/1.1 429"));
    CHECK(!has(ask(caller, take("two", R"({"cost":3})")), "Retry-After"));
}

TEST_CASE("keys, and the rules of a limit for them") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    CHECK(has(ask(caller, take("keyed", R"({"key":"a"})")), R"("remaining":1)"));
    CHECK(has(ask(caller, take("keyed", R"({"key":"b"})")), R"("remaining":1)"));
    CHECK(has(ask(caller, take("keyed", R"({"key":"big"})")), R"("limit":9,"remaining":8)"));
    CHECK(has(ask(caller, take("keyed", R"({"key":"evil"})")), "403"));
    for (int i = 0; i < 5; ++i)
        CHECK(has(ask(caller, take("keyed", R"({"key":"boss"})")), R"("granted":true)"));
    CHECK(has(ask(caller, take("keyed")), "400"));
    CHECK(has(ask(caller, take("two", R"({"key":"a"})")), "400"));
    CHECK(has(ask(caller, take("by_address", R"({"key":"x"})")), "400"));
    CHECK(has(ask(caller, take("by_address", R"({"key":"127.0.0.1"})")), R"("remaining":1)"));
}

TEST_CASE("what cannot be taken") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    CHECK(has(ask(caller, take("slot")), "400"));
    CHECK(has(ask(caller, take("none")), "404"));
    CHECK(has(ask(caller, take("two", R"({"requests":2,"per_ms":1000})")), "409"));
    CHECK(has(ask(caller, take("two", R"({"requests":2,"per_ms":3600000})")), "200 OK"));
    CHECK(has(ask(caller, take("two", R"({"x":1})")), "400"));
    CHECK(has(ask(caller, take("bucket", R"({"batch":1})")), "400"));
}

TEST_CASE("a refusal is in the API's words, not in the limit's own") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    ask(caller, take("own"));
    const std::string refusal = ask(caller, take("own"));
    CHECK(has(refusal, "HTTP/1.1 429 "));
    CHECK(has(refusal, R"("limit":"own")"));
}

TEST_CASE("callers bring limits, as many as there may be") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    constexpr std::string_view numbers = R"({"requests":1,"per_ms":3600000})";
    CHECK(has(ask(caller, take("x%2Fy%20%C3%BC", numbers)), R"("limit":1,"remaining":0)"));
    CHECK(has(ask(caller, take("x%2Fy%20%C3%BC", numbers)), "429"));
    CHECK(has(ask(caller, take("x%2Fy%20%C3%BC")), "429"));
    CHECK(has(ask(caller, take("x%2Fy%20%C3%BC", R"({"requests":2,"per_ms":3600000})")), "409"));
    CHECK(has(ask(caller, take("second", numbers)), "200 OK"));
    const std::string full = ask(caller, take("third", numbers));
    CHECK(has(full, "503"));
    CHECK(has(full, "Retry-After"));
    CHECK(has(ask(caller, take("%ff")), "400"));
    CHECK(has(ask(caller, take("%zz")), "400"));
}

TEST_CASE("several limits are taken from all together or not at all") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    const auto both = post(
        "/v1/limits/take", R"({"limits":[{"name":"keyed","key":"a"},{"name":"two","cost":2}]})");
    const std::string answer = body_of(ask(caller, both));
    CHECK(
        has(answer,
            R"({"granted":true,"waited_ms":0,"limits":[{"name":"keyed","limit":2,"remaining":1)"));
    CHECK(has(answer, R"({"name":"two","limit":2,"remaining":0)"));
    CHECK(has(ask(caller, both), "429"));
    CHECK(has(ask(caller, take("keyed", R"({"key":"a","cost":0})")), R"("remaining":1)"));
    CHECK(
        has(ask(caller, post("/v1/limits/take", R"({"limits":[{"name":"two"},{"name":"two"}]})")),
            "400"));
}

TEST_CASE("a batch is what is left, at most") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    CHECK(has(ask(caller, take("keyed", R"({"key":"big","batch":4})")), R"("remaining":5)"));
    CHECK(has(ask(caller, take("keyed", R"({"key":"big","batch":100})")), R"("count":5)"));
    CHECK(has(ask(caller, take("keyed", R"({"key":"big","batch":100})")), "429"));
}

TEST_CASE("a request with an idempotency key is charged once") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    const auto once = take("two", R"({"idempotency_key":"i"})");
    const std::string first = body_of(ask(caller, once));
    Wire other = gateway.connect_for_permits();
    const std::string again = body_of(ask(other, once));
    CHECK(has(first, R"("remaining":1)"));
    CHECK(has(again, R"("remaining":1)"));
    CHECK(has(again, R"("replayed":true)"));
    CHECK(has(ask(caller, take("two", R"({"cost":0})")), R"("remaining":1)"));
    CHECK(has(ask(caller, take("two", R"({"idempotency_key":"i","cost":2})")), "422"));
    CHECK(has(ask(caller, take("two", R"({"idempotency_key":"j"})")), R"("remaining":0)"));
    CHECK(has(ask(caller, take("two", R"({"idempotency_key":"k"})")), "429"));
    CHECK(has(ask(caller, take("two", R"({"idempotency_key":"k"})")), "429"));
}

TEST_CASE("what an idempotency key stands for cannot be spelt in two ways") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    const auto list = [](std::string_view limits) {
        return post(
            "/v1/limits/take", R"({"idempotency_key":"x","limits":[)" + std::string{limits} + "]}");
    };
    CHECK(has(ask(caller, list(R"({"name":"keyed","key":"k"},{"name":"two"})")), "200 OK"));
    CHECK(has(ask(caller, list(R"({"name":"keyed","key":"k\u00001\u0000two\u0000"})")), "422"));
    CHECK(has(ask(caller, take("two", R"({"owner":"a","idempotency_key":"x"})")), "200 OK"));
}

TEST_CASE("a batch of a key that no limit concerns is whole") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    CHECK(has(ask(caller, take("keyed", R"({"key":"boss","batch":7})")), R"("count":7)"));
}

TEST_CASE("feedback pauses a limit") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    CHECK(
        body_of(ask(
            caller, post("/v1/feedback", R"({"limit":"two","status":503,"retry_after":"120"})"))) ==
        "{\"paused\":true,\"paused_ms\":120000}\n");
    const std::string refusal = ask(caller, take("two"));
    CHECK(has(refusal, "HTTP/1.1 503 "));
    CHECK(has(refusal, "Retry-After: 120"));
    CHECK(has(ask(caller, take("keyed", R"({"key":"a"})")), "200 OK"));
    CHECK(has(
        ask(caller, post("/v1/feedback", R"({"limit":"two","status":200})")), R"("paused":false)"));
    CHECK(has(ask(caller, post("/v1/feedback", R"({"limit":"none","status":429})")), "404"));
    CHECK(has(ask(caller, post("/v1/feedback", R"({"route":"all","status":429})")), "400"));
}

TEST_CASE("a caller that sleeps for as long as it was told and comes back alone is admitted") {
    InProcessGateway gateway{
        "permits: {address: 127.0.0.1:2}\nlimits: {odd: {requests: 1, per: 200ms}}\nroutes: []"};
    Wire caller = gateway.connect_for_permits();
    for (int round = 0; round < 4; ++round) {
        while (!has(ask(caller, take("odd", R"({"owner":"a"})")), "200 OK"))
            std::this_thread::sleep_for(10ms);
        ask(caller, take("odd", R"({"owner":"b"})")); // once: a window may have ended meanwhile
        const std::string refused = ask(caller, take("odd", R"({"owner":"a"})"));
        constexpr std::string_view name = "Retry-After-Ms: ";
        if (const std::size_t at = refused.find(name); at != std::string::npos) {
            std::this_thread::sleep_for(
                std::chrono::milliseconds{std::stol(refused.substr(at + name.size(), 8))});
            CHECK(has(ask(caller, take("odd", R"({"owner":"a"})")), "200 OK"));
        }
    }
}

TEST_CASE("while a limit is closed after a start, a refusal tells when it opens") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    const Now now = net::read_clocks();
    for (const auto name : {"two", "keyed"}) {
        gateway.limit(name).close({now.steady - 50min, now.wall - 50min});
        const bool keyed = gateway.limit(name).keyed();
        const std::string refusal =
            ask(caller, take(name, keyed ? R"({"key":"k","owner":"a"})" : R"({"owner":"a"})"));
        CHECK(has(refusal, "\r\nRetry-After: 600\r\n"));
    }
}

TEST_CASE("what was granted before a pause is told again while it lasts") {
    InProcessGateway gateway{some_limits};
    Wire caller = gateway.connect_for_permits();
    const auto once = take("two", R"({"idempotency_key":"i"})");
    const auto both = post(
        "/v1/limits/take",
        R"({"idempotency_key":"b","limits":[{"name":"keyed","key":"k"},{"name":"two"}]})");
    REQUIRE(has(ask(caller, once), "200 OK"));
    REQUIRE(has(ask(caller, both), "200 OK"));
    ask(caller, post("/v1/feedback", R"({"limit":"two","status":503,"retry_after":"120"})"));

    CHECK(has(ask(caller, once), R"("replayed":true)"));
    CHECK(has(ask(caller, both), R"("replayed":true)"));
    const std::string refused = ask(caller, take("two", R"({"idempotency_key":"other"})"));
    CHECK(has(refused, "503"));
    CHECK(has(refused, R"("limit":"two")"));
    CHECK(has(ask(caller, take("two", R"({"idempotency_key":"i","cost":2})")), "422"));
    const std::string list =
        R"({"limits":[{"name":"two"},{"name":"keyed","key":"k"}]})"; // the paused one comes first
    CHECK(has(ask(caller, post("/v1/limits/take", list)), R"("limit":"two")"));
    CHECK(has(ask(caller, take("keyed", R"({"key":"k","cost":0})")), R"("remaining":1)"));
}
