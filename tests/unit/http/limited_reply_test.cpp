// The forms that a refusal can take beside the usual problem document.
#include "response_support.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>

namespace {

using namespace stint;
using namespace stint::http;
using namespace stint::http::test;
using namespace std::chrono_literals;

std::string limited(const LimitedReply& reply, MediaType media = MediaType::problem_json) {
    Response response;
    make_limited(response, {.request_id = "id-1", .media = media}, reply);
    return text_of(response);
}

std::string body_of(const std::string& reply) {
    return reply.substr(reply.find("\r\n\r\n") + 4);
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a refusal can be a page") {
    const std::string reply = limited({"a<b>&\"", 1500ms}, MediaType::html);

    CHECK(has(reply, "\r\nContent-Type: text/html; charset=utf-8\r\n"));
    CHECK(has(reply, "<title>429 Too Many Requests</title>"));
    CHECK(has(reply, "<p>The limit a&lt;b&gt;&amp;&quot; is used up; retry in 2 s.</p>"));
    CHECK(has(reply, "\r\nRetry-After: 2\r\nRetry-After-Ms: 1500\r\n"));
}

TEST_CASE("a refusal can be plain text") {
    const std::string reply = limited({"a", 1500ms}, MediaType::plain);

    CHECK(has(reply, "\r\nContent-Type: text/plain; charset=utf-8\r\n"));
    CHECK(body_of(reply) == "429 Too Many Requests\nThe limit a is used up; retry in 2 s.\n");
}

TEST_CASE("a refusal with a slot carries its ticket") {
    LimitedReply refused{"a", 1500ms};
    CHECK_FALSE(has(limited(refused), "X-Stint-Ticket"));
    refused.ticket = "0011";

    CHECK(has(limited(refused), "\r\nRetry-After-Ms: 1500\r\nX-Stint-Ticket: 0011\r\n"));
}

TEST_CASE("an error without a detail is short in every form") {
    Response response;

    make_problem(response, {.media = MediaType::plain}, 404, "");

    CHECK(response.body_text() == "404 Not Found\n");
}

TEST_CASE("a limit's own status is the answer's and the document's") {
    const std::string reply = limited({.limit = "a", .retry_after = 1s, .status = 503});

    CHECK(reply.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
    CHECK(has(body_of(reply), "\"status\":503"));
    CHECK(has(reply, "#quota-exceeded"));
}

TEST_CASE("a limit's own body is filled in and sent whatever the client prefers") {
    const std::string reply = limited(
        {.limit = "per_client",
         .retry_after = 11'001ms,
         .content_type = "application/json",
         .body = "{\"wait\": {retry_after}, \"ms\": {retry_after_ms}, \"who\": \"{limit}\", "
                 "\"id\": \"{request_id}\", \"x\": {}, \"y\": {other}"},
        MediaType::html);

    CHECK(has(reply, "\r\nContent-Type: application/json\r\n"));
    CHECK(
        body_of(reply) == "{\"wait\": 12, \"ms\": 11001, \"who\": \"per_client\", "
                          "\"id\": \"id-1\", \"x\": {}, \"y\": {other}");
}

TEST_CASE("a limit's own body may be empty") {
    CHECK(
        body_of(limited({.limit = "a", .retry_after = 1s, .content_type = "text/plain"})).empty());
}

TEST_CASE("a reply tells the limits") {
    const PolicyState policy{
        .name = "a",
        .quota = 5,
        .remaining = 0,
        .window = 1s,
        .more_at = SteadyTime{3s},
        .draft = true,
        .legacy = true};
    const PolicyFields fields{{&policy, 1}, {}, {SteadyTime{2s}, WallTime{}}};
    Response response;

    make_limited(response, {.policies = fields}, {"a", 1s});

    const std::string reply = text_of(response);
    CHECK(has(reply, "\r\nRateLimit-Policy: \"a\";q=5;w=1\r\nRateLimit: \"a\";r=0;t=1\r\n"));
    CHECK(has(reply, "\r\nX-RateLimit-Reset: 1\r\n"));
}

TEST_CASE("a pause that the upstream has asked for has the upstream's status") {
    const auto paused = [](int status) {
        Response response;
        make_paused(
            response, context, {.upstream = "target", .status = status, .retry_after = 11'500ms});
        return text_of(response);
    };
    const std::string busy = paused(503);

    CHECK(busy.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
    CHECK(has(busy, "\r\nRetry-After: 12\r\nRetry-After-Ms: 11500\r\n"));
    CHECK(has(busy, "#temporary-reduced-capacity\""));
    CHECK(has(busy, "The upstream target asked for a pause; retry in 12 s."));
    CHECK(has(busy, "\"upstream\":\"target\",\"retry_after_ms\":11500}"));
    CHECK(paused(429).starts_with("HTTP/1.1 429 "));
    CHECK(has(paused(429), "#quota-exceeded\""));
}

TEST_CASE("jitter only ever adds, from nothing to all of it") {
    CHECK(with_jitter(7s, 0s, ~std::uint64_t{0}) == 7s);
    CHECK(with_jitter(7s, 5s, 0) == 7s);
    CHECK(with_jitter(7s, 5s, 5000) == 12s);
    CHECK(with_jitter(7s, 5s, 5001) == 7s);
    CHECK(with_jitter(Duration::max(), 5s, 5000) == Duration::max());
    for (std::uint64_t random = 1; random != 0; random <<= 1) {
        const Duration wait = with_jitter(7s, 5s, random * 0x9e37'79b9'7f4a'7c15);
        CHECK(wait >= 7s);
        CHECK(wait <= 12s);
    }
}
