#include "admin/message.hpp"

#include <doctest/doctest.h>

#include <array>
#include <ostream>
#include <string>
#include <string_view>

using namespace stint;
using namespace stint::admin;

TEST_CASE("a request keeps every Authorization and Origin field, however spelt") {
    const std::array fields{
        Field{FieldId::other, "AUTHORIZATION", "Bearer a"}, Field{FieldId::other, "origin", "null"},
        Field{FieldId::other, "X-Other", "1"}, Field{FieldId::other, "Authorization", "Bearer b"}};
    RequestHead head;
    head.method = "POST";
    head.path = "/config/reload";
    head.fields = fields;

    const Request request = request_of(head);

    CHECK(request.method == "POST");
    CHECK(request.path == "/config/reload");
    CHECK(request.authorizations == std::vector<std::string>{"Bearer a", "Bearer b"});
    CHECK(request.origins == std::vector<std::string>{"null"});
}

TEST_CASE("a problem document carries what is added to it") {
    const Response response = problem(422, "It is wrong.", {{"errors", {"a:1:1: no"}}});

    CHECK(response.status == 422);
    CHECK(response.content_type == "application/problem+json");
    const Json body = Json::parse(response.body);
    CHECK(body["title"] == "Unprocessable Content");
    CHECK(body["status"] == 422);
    CHECK(body["detail"] == "It is wrong.");
    CHECK(body["errors"] == Json::array({"a:1:1: no"}));
}

TEST_CASE("a body is JSON from its first byte to its last") {
    using namespace std::string_view_literals;
    CHECK(object_in(" {\"a\": 1}\r\n", "").has_value());
    for (const std::string_view body :
         {"{\"a\": 1}\0"sv, "{\"a\": 1}\0{\"b\": 2}"sv, "\0{\"a\": 1}"sv,
          "\xEF\xBB\xBF{\"a\": 1}"sv, "{\"a\": 1}x"sv}) {
        CAPTURE(body);
        const auto read = object_in(body, "It is no object.");
        REQUIRE(read.has_error());
        CHECK(read.error().status == 400);
    }
}

TEST_CASE("a problem's detail may hold any bytes") {
    const Response response = problem(404, "no \"\xff\"");

    CHECK(Json::parse(response.body)["detail"] == "no \"\xef\xbf\xbd\"");
}

TEST_CASE("a response says that it is not to be kept or guessed at") {
    const Response response = json_response({{"a", 1}});

    http::Response written;
    write_to(written, response);

    CHECK(written.status() == 200);
    CHECK(written.content_type() == "application/json");
    CHECK(written.no_store());
    CHECK(written.field_lines() == "X-Content-Type-Options: nosniff\r\n");
    CHECK(written.body_text() == "{\n  \"a\": 1\n}\n");
}

TEST_CASE("a response carries its own fields") {
    Response response = problem(405, "No.");
    response.fields.emplace_back("Allow", "POST");

    http::Response written;
    write_to(written, response);

    CHECK(written.field_lines().ends_with("\r\nAllow: POST\r\n"));
}

TEST_CASE("204 has neither content nor a length of it") {
    Response response;
    response.status = 204;

    http::Response written;
    write_to(written, response);

    CHECK(written.content() == http::Response::Content::none);
    CHECK(written.content_type().empty());
}
