#include "admin/message.hpp"

#include <doctest/doctest.h>

#include <array>
#include <ostream>
#include <string>

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

TEST_CASE("a problem's detail may hold any bytes") {
    const Response response = problem(404, "no \"\xff\"");

    CHECK(Json::parse(response.body)["detail"] == "no \"\xef\xbf\xbd\"");
}

TEST_CASE("a head says that the answer is not to be kept or guessed at") {
    const Response response = json_response({{"a", 1}});

    const std::string head = head_of(response, "Sun, 06 Nov 1994 08:49:37 GMT", true);

    CHECK(head.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(head.ends_with("\r\n\r\n"));
    for (const auto* line :
         {"Date: Sun, 06 Nov 1994 08:49:37 GMT", "Content-Type: application/json",
          "Content-Length: 13", "Cache-Control: no-store", "X-Content-Type-Options: nosniff",
          "Connection: keep-alive"})
        CHECK_MESSAGE(head.find(std::string{"\r\n"} + line + "\r\n") != std::string::npos, line);
    CHECK(response.body == "{\n  \"a\": 1\n}\n");
}

TEST_CASE("a head carries the fields of its answer and the connection's end") {
    Response response = problem(405, "No.");
    response.fields.emplace_back("Allow", "POST");

    const std::string head = head_of(response, "", false);

    CHECK(head.find("\r\nAllow: POST\r\n") != std::string::npos);
    CHECK(head.find("\r\nConnection: close\r\n") != std::string::npos);
}
