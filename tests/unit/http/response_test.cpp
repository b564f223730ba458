// A response as a value, and as HTTP/1.1 sends it.
#include "response_support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::http;
using namespace stint::http::test;

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

Fields fields_of(const Response& response) {
    Fields fields;
    for_each_field(response, [&](std::string_view name, std::string_view value) {
        fields.emplace_back(name, value);
    });
    return fields;
}

} // namespace

TEST_CASE("a response's fields are those that any protocol sends, in their order") {
    const PolicyState policy{
        .name = "a", .quota = 5, .window = Duration{1}, .draft = true, .legacy = false};
    Response response;
    make_limited(
        response, {.request_id = "id-1", .policies = {{&policy, 1}, {}, {}}},
        {.limit = "a", .retry_after = Duration{1'500'000'000}, .ticket = "00:11"});

    CHECK(response.status() == 429);
    CHECK(response.content_type() == "application/problem+json");
    CHECK(response.no_store());
    CHECK(
        fields_of(response) == Fields{
                                   {"Retry-After", "2"},
                                   {"Retry-After-Ms", "1500"},
                                   {"X-Stint-Ticket", "00:11"},
                                   {"RateLimit-Policy", "\"a\";q=5;w=1"},
                                   {"RateLimit", "\"a\";r=0;t=0"},
                                   {"X-Request-Id", "id-1"}});
}

TEST_CASE("a field's value may be empty or hold colons") {
    Response response;
    CHECK(fields_of(response).empty());
    response.fields().field("A", "");
    response.fields().field("B", "c: d");

    CHECK(fields_of(response) == Fields{{"A", ""}, {"B", "c: d"}});
}

TEST_CASE("a response that is begun anew keeps nothing of the last") {
    Response response;
    make_limited(response, context, {"a", Duration{1}});
    response.set_names_server();
    make_no_content(response);

    CHECK(
        text_of(response) ==
        "HTTP/1.1 204 No Content\r\nServer: stint\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n");
    response.begin(200, {});
    CHECK(text_of(response).find("\r\nContent-Length: 0\r\n") != std::string::npos);
}

TEST_CASE("a response whose content goes on has no length, and ends with its connection") {
    Response response;
    response.begin(201, "text/event-stream");
    response.set_content(Response::Content::begun);
    response.body() << "event: granted\n\n";

    CHECK(
        text_of(response) ==
        "HTTP/1.1 201 Created\r\nServer: stint\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
        "Content-Type: text/event-stream\r\nConnection: close\r\n\r\nevent: granted\n\n");
}
