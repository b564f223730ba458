// Answers that stand in the configuration, and where redirects lead.
#include "http/fixed_reply.hpp"
#include "http/location.hpp"
#include "response_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint;
using namespace stint::http;
using namespace stint::http::test;

namespace {

const ResponseTerms now{.date = "now"};

std::string reply(
    const FixedAnswer& answer,
    const ResponseTerms& with = now,
    const PlaceholderValues& values = {}) {
    Response response;
    make_fixed_reply(response, context, answer, values);
    return text_of(response, with);
}

FixedAnswer hello() {
    FixedAnswer answer;
    answer.content_type = "text/plain";
    answer.body = TextTemplate{"hello {client_ip}\n"};
    answer.fields = {{"X-Route", TextTemplate{"{route}"}}};
    return answer;
}

PlaceholderValues values() {
    PlaceholderValues made;
    made[Placeholder::client_ip] = "192.0.2.7";
    made[Placeholder::route] = "greeting";
    return made;
}

std::string location(std::string_view to, std::string_view path, std::string_view query = "") {
    PlaceholderValues made;
    made[Placeholder::host] = "shop.example";
    made[Placeholder::path] = path;
    made[Placeholder::query] = query;
    HeadBuffer out;
    write_location(out, TextTemplate{to}, made);
    return std::string{out.view()};
}

} // namespace

TEST_CASE("a fixed answer is a whole response") {
    CHECK(
        reply(hello(), now, values()) ==
        "HTTP/1.1 200 OK\r\nServer: stint\r\nDate: now\r\nContent-Type: text/plain\r\n"
        "Content-Length: 16\r\nX-Route: greeting\r\nX-Request-Id: id-1\r\n\r\n"
        "hello 192.0.2.7\n");
}

TEST_CASE("HEAD gets the head of the whole") {
    ResponseTerms head = now;
    head.head_request = true;

    const std::string text = reply(hello(), head, values());

    CHECK(text.find("Content-Length: 16\r\n") != std::string::npos);
    CHECK(text.ends_with("\r\n\r\n"));
}

TEST_CASE("the connection's end is told") {
    ResponseTerms closing = now;
    closing.keep_alive = false;
    ResponseTerms old = now;
    old.client_minor = 0;

    CHECK(reply(hello(), closing).find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(reply(hello(), old).find("\r\nConnection: keep-alive\r\n") != std::string::npos);
}

TEST_CASE("204 and 304 have neither body nor length, 205 has a length of 0") {
    FixedAnswer none = hello();
    for (const int status : {204, 304}) {
        none.status = status;
        const std::string text = reply(none);
        CHECK(text.find("Content-Length") == std::string::npos);
        CHECK(text.ends_with("\r\n\r\n"));
    }
    none.status = 205;
    CHECK(reply(none).find("\r\nContent-Length: 0\r\n") != std::string::npos);
    CHECK(reply(none).ends_with("\r\n\r\n"));
}

TEST_CASE("an answer that names its server has one Server") {
    FixedAnswer answer = hello();
    answer.fields = {{"Server", TextTemplate{"other"}}};
    answer.names_server = true;

    CHECK(reply(answer).find("Server: stint") == std::string::npos);
    CHECK(reply(answer).find("\r\nServer: other\r\n") != std::string::npos);
}

TEST_CASE("a redirect says where to, and has no content") {
    FixedAnswer answer;
    answer.status = 308;
    answer.location = TextTemplate{"https://b.example{path}{?query}"};
    PlaceholderValues made;
    made[Placeholder::path] = "/a";
    made[Placeholder::query] = "?b=c";

    CHECK(
        reply(answer, now, made) ==
        "HTTP/1.1 308 Permanent Redirect\r\nServer: stint\r\nDate: now\r\nContent-Length: 0\r\n"
        "Location: https://b.example/a?b=c\r\nX-Request-Id: id-1\r\n\r\n");
}

TEST_CASE("a location holds what a URI may hold") {
    CHECK(location("https://{host}{path}{?query}", "/a b", "?c") == "https://shop.example/a%20b?c");
    CHECK(location("{path}", "/a\r\nSet-Cookie: b") == "/a%0D%0ASet-Cookie:%20b");
    CHECK(location("/x{path}", "/{a}|^`\"<>\\") == "/x/%7Ba%7D%7C%5E%60%22%3C%3E%5C");
    CHECK(location("{path}", "/%41%2f") == "/%41%2f");
    CHECK(location("{path}", "/\xC3\xA9") == "/%C3%A9");
}

TEST_CASE("a location that begins as a path names no other host") {
    CHECK(location("{path}", "//evil.example/a") == "/evil.example/a");
    CHECK(location("/{path}", "/evil.example") == "/evil.example");
    CHECK(location("/{path}", "///evil.example") == "/evil.example");
    CHECK(location("{path}", "/\\evil.example") == "/%5Cevil.example");
    CHECK(location("/a{path}", "//b") == "/a//b");
    CHECK(location("https://c.example{path}", "//b") == "https://c.example//b");
}
