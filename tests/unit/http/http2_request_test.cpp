#include "http/head_parser.hpp"
#include "http/http2_request.hpp"
#include "http/rewrite.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::http;

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;
constexpr HeadBounds roomy{.max_head = 16'384, .max_target = 8192, .max_fields = 100};

Fields get(Fields more = {}) {
    Fields fields{
        {":method", "GET"}, {":scheme", "https"}, {":authority", "a.example"}, {":path", "/p?q"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

// Gives the fields to a request, and ends its head.
struct Played {
    explicit Played(
        const Fields& fields, bool ends_stream = true, const HeadBounds& bounds = roomy) {
        request.begin(bounds);
        for (const auto& [name, value] : fields)
            last = request.add(name, value);
        error = request.finish(ends_stream, head, "the key");
    }
    [[nodiscard]] int status() const { return error ? error->status : 200; }
    [[nodiscard]] std::string value(std::string_view name) const {
        for (const Field& field : head.fields)
            if (field.name == name)
                return std::string{field.value};
        return "(none)";
    }

    Http2Request request;
    Http2Request::Size last = Http2Request::Size::within;
    RequestHead head;
    std::optional<HeadError> error;
};

int status_of(const Fields& fields, bool ends_stream = true) {
    return Played{fields, ends_stream}.status();
}

} // namespace

TEST_CASE("an HTTP/2 request becomes the head that HTTP/1 would have made") {
    const Played played{get({{"x-a", "1"}, {"accept", "*/*"}})};
    REQUIRE_FALSE(played.error);
    CHECK(played.head.method == "GET");
    CHECK(played.head.target == "/p?q");
    CHECK(played.head.path == "/p");
    CHECK(played.head.query == "q");
    CHECK(played.head.authority == "a.example");
    CHECK(played.head.http2);
    CHECK(played.head.minor_version == 1);
    CHECK_FALSE(played.head.framing.has_body());
    CHECK(played.value("x-a") == "1");
    CHECK(played.value("host") == "a.example");
    CHECK(played.head.ids.contains(FieldId::host));
}

TEST_CASE("a request of HTTP/2 is forwarded as HTTP/1.1") {
    const Played played{get({{"cookie", "a=1"}, {"x-a", "1"}, {"cookie", "b=2"}})};
    REQUIRE_FALSE(played.error);
    HeadBuffer out;
    Forwarding forwarding{};
    forwarding.scheme = "https";
    forwarding.request_id = "r";
    write_upstream_head(out, played.head, forwarding);
    const std::string_view text = out.view();
    CHECK(text.starts_with("GET /p?q HTTP/1.1\r\nHost: a.example\r\n"));
    CHECK(text.find("x-a: 1\r\n") != std::string_view::npos);
    CHECK(text.find("cookie: a=1; b=2\r\n") != std::string_view::npos);
    CHECK(text.find("Via: 2.0 stint\r\n") != std::string_view::npos);
    CHECK(text.find(":authority") == std::string_view::npos);
    CHECK(HeadParser{16'384}.parse_request(text).has_value());
}

TEST_CASE("a cookie crumb without a cookie adds nothing") {
    CHECK(Played{get({{"cookie", ""}, {"cookie", "a"}, {"cookie", ""}})}.value("cookie") == "a");
}

TEST_CASE("cookie crumbs count one by one, beside :authority, and are one cookie") {
    CHECK(
        Played{get({{"cookie", "a"}, {"cookie", "b"}, {"cookie", "c"}})}.value("cookie") ==
        "a; b; c");
    const HeadBounds three{.max_head = 16'384, .max_target = 99, .max_fields = 3};
    CHECK(Played{get({{"cookie", "a"}, {"cookie", "b"}}), true, three}.status() == 200);
    CHECK(
        Played{get({{"cookie", "a"}, {"cookie", "b"}, {"cookie", "c"}}), true, three}.status() ==
        431);
}

TEST_CASE("max_head counts names, values and 32 bytes for each field") {
    const Fields fields = get({{"a", "b"}}); // names 7+7+10+5+1, values 3+5+9+4+1, 5 * 32
    HeadBounds bounds{.max_head = 212, .max_target = 99, .max_fields = 9};
    CHECK(Played{fields, true, bounds}.status() == 200);
    --bounds.max_head;
    CHECK(Played{fields, true, bounds}.status() == 431);
}

TEST_CASE("a list four times larger than its bound is not worth decoding") {
    const HeadBounds bounds{.max_head = 16'384, .max_target = 99, .max_fields = 1};
    CHECK(Played{get({{"a", ""}, {"b", ""}}), true, bounds}.last == Http2Request::Size::exceeded);
    CHECK(
        Played{get({{"a", ""}, {"b", ""}, {"c", ""}}), true, bounds}.last ==
        Http2Request::Size::absurd);
}

TEST_CASE("a trailer counts as a part of its head, and is not kept") {
    using Size = Http2Request::Size;
    Played played{get(), false, {.max_head = 300, .max_target = 100, .max_fields = 6}};
    REQUIRE(played.status() == 200);
    Http2Request& request = played.request;
    CHECK(request.count("x", std::string(50, 'x')) == Size::within);
    CHECK(request.count("x", std::string(200, 'x')) == Size::exceeded);
    CHECK(request.count("x", std::string(900, 'x')) == Size::absurd);
    CHECK(played.head.fields.size() == 1);
    CHECK_FALSE(played.error);
}

TEST_CASE("a target longer than max_target is answered with 414") {
    const HeadBounds bounds{.max_head = 16'384, .max_target = 3, .max_fields = 9};
    CHECK(Played{get(), true, bounds}.status() == 414);
}

TEST_CASE("Host and :authority must agree") {
    CHECK(Played{get({{"host", "A.example"}})}.value("host") == "A.example");
    CHECK(status_of(get({{"host", "b.example"}})) == 400);
    CHECK(status_of(get({{"host", "a.example"}, {"host", "a.example"}})) == 400);
    const Fields rest{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}};
    for (const char* name : {"host", ":authority"}) {
        Fields empty = rest;
        empty.emplace_back(name, "");
        CHECK(status_of(empty) == 400);
    }
    CHECK(status_of(rest) == 400);
    const Fields only_host{
        {":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"host", "b.example"}};
    CHECK(Played{only_host}.head.authority == "b.example");
    CHECK(status_of({{":method", "GET"}, {":scheme", "http"}, {":path", "/"}}) == 400);
}

TEST_CASE("an :authority with user information or of other bytes is refused") {
    for (const char* authority : {"u@a.example", "a b", "a..b", "a:0"})
        CHECK(
            status_of(
                {{":method", "GET"},
                 {":scheme", "http"},
                 {":authority", authority},
                 {":path", "/"}}) == 400);
}

TEST_CASE("pseudo-fields come once, first, and are known") {
    CHECK(status_of(get({{":path", "/other"}})) == 400);
    CHECK(
        status_of(
            {{"a", "b"},
             {":method", "GET"},
             {":scheme", "http"},
             {":path", "/"},
             {":authority", "a"}}) == 400);
    CHECK(status_of(get({{":status", "200"}})) == 400);
    CHECK(status_of({{":scheme", "http"}, {":path", "/"}, {":authority", "a"}}) == 400);
    CHECK(status_of({{":method", "GET"}, {":path", "/"}, {":authority", "a"}}) == 400);
    CHECK(status_of({{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}}) == 400);
}

TEST_CASE(":path is a path, or * for OPTIONS") {
    const auto with_path = [](std::string method, std::string path) {
        return status_of(
            {{":method", std::move(method)},
             {":scheme", "http"},
             {":authority", "a"},
             {":path", std::move(path)}});
    };
    CHECK(with_path("OPTIONS", "*") == 200);
    CHECK(with_path("GET", "*") == 400);
    CHECK(with_path("GET", "http://b.example/") == 400);
    CHECK(with_path("GET", "") == 400);
    CHECK(with_path("GET", "/a b") == 400);
    CHECK(with_path("GET", "/a#b") == 400);
    CHECK(with_path("G T", "/") == 400);
    CHECK(with_path("", "/") == 400);
}

TEST_CASE("a :scheme other than http and https is refused") {
    CHECK(
        status_of({{":method", "GET"}, {":scheme", "ftp"}, {":authority", "a"}, {":path", "/"}}) ==
        400);
}

TEST_CASE("CONNECT is refused as of HTTP/1") {
    CHECK(status_of({{":method", "CONNECT"}, {":authority", "a:443"}}) == 405);
}

TEST_CASE("bytes that would end a line of HTTP/1 are refused") {
    for (const char* value : {"a\r\nb: c", "a\nb", "a\rb", "a\x7f"})
        CHECK(status_of(get({{"x", value}})) == 400);
    CHECK(status_of(get({{"x", std::string{"a\0b", 3}}})) == 400);
    CHECK(status_of(get({{"x", " a"}})) == 400);
    for (const char* name : {"X-A", "a b", "a:", "", "a\r\nb"})
        CHECK(status_of(get({{name, "v"}})) == 400);
}

TEST_CASE("fields that HTTP/2 does not have are refused") {
    for (const char* name :
         {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"})
        CHECK(status_of(get({{name, "x"}})) == 400);
}

TEST_CASE("the end of the stream and Content-Length decide about the body") {
    const Played unknown{get(), false};
    CHECK(unknown.head.framing.kind == BodyFraming::Kind::chunked);
    const Played known{get({{"content-length", "5"}}), false};
    CHECK(known.head.framing.kind == BodyFraming::Kind::length);
    CHECK(known.head.framing.length == 5);
    CHECK(status_of(get({{"content-length", "5"}}), true) == 400);
    CHECK(status_of(get({{"content-length", "0"}}), true) == 200);
    CHECK(status_of(get({{"content-length", "x"}}), false) == 400);
    CHECK(status_of(get({{"content-length", "1"}, {"content-length", "1"}}), false) == 400);
}

TEST_CASE("a request that usually has a body says over HTTP/1.1 that it has none") {
    for (const auto& [method, wanted] :
         {std::pair{"POST", true},
          {"PUT", true},
          {"PATCH", true},
          {"GET", false},
          {"DELETE", false}}) {
        Fields fields = get();
        fields.front().second = method;
        const Played played{fields, true};
        REQUIRE_FALSE(played.error);
        CHECK_FALSE(played.head.framing.has_body());
        HeadBuffer out;
        write_upstream_head(out, played.head, {});
        CHECK((out.view().find("Content-Length: 0\r\n") != std::string_view::npos) == wanted);
    }
}

TEST_CASE("Expect needs a body to wait for") {
    CHECK(Played{get({{"expect", "100-continue"}}), false}.head.expects_continue);
    CHECK_FALSE(Played{get({{"expect", "100-continue"}}), true}.head.expects_continue);
    CHECK(status_of(get({{"expect", "more"}}), false) == 417);
}

TEST_CASE("a request can follow another one in the same object") {
    Http2Request request;
    RequestHead head;
    request.begin(roomy);
    (void)request.add("x", "\n");
    CHECK(request.finish(true, head));
    request.begin(roomy);
    for (const auto& [name, value] : get())
        (void)request.add(name, value);
    CHECK_FALSE(request.finish(true, head));
    CHECK(head.fields.size() == 1);
}

TEST_CASE("a HEAD request is known even if it is refused") {
    Fields fields = get({{"host", "other"}});
    fields[0].second = "HEAD";
    const Played played{fields};
    CHECK(played.status() == 400);
    CHECK(played.request.is_head_request());
}

namespace {

Fields extended_connect(std::string protocol, Fields more = {}) {
    Fields fields{
        {":method", "CONNECT"},
        {":protocol", std::move(protocol)},
        {":scheme", "https"},
        {":authority", "a.example"},
        {":path", "/chat?q"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

} // namespace

TEST_CASE("an extended CONNECT for a WebSocket is the request that HTTP/1.1 has for it") {
    const Played played{
        extended_connect(
            "websocket", {{"sec-websocket-key", "the client's"}, {"sec-websocket-version", "13"}}),
        false};
    REQUIRE(played.status() == 200);
    CHECK(played.head.extended_connect);
    CHECK(played.head.method == "GET");
    CHECK(played.head.path == "/chat");
    CHECK(played.head.authority == "a.example");
    CHECK_FALSE(played.head.framing.has_body());
    CHECK(played.value("connection") == "Upgrade");
    CHECK(played.value("upgrade") == "websocket");
    CHECK(played.value("sec-websocket-key") == "the key");
    CHECK(played.value("sec-websocket-version") == "13");
}

TEST_CASE("an extended CONNECT must be whole, and for a WebSocket") {
    CHECK(status_of(extended_connect("WebSocket"), false) == 200);
    CHECK(status_of(extended_connect("connect-udp"), false) == 501);
    CHECK(status_of(extended_connect(""), false) == 501);
    CHECK(status_of(extended_connect("websocket", {{"content-length", "2"}}), false) == 400);
    CHECK(status_of(extended_connect("websocket", {{"upgrade", "websocket"}}), false) == 400);
    CHECK(
        status_of(
            {{":method", "GET"},
             {":protocol", "websocket"},
             {":scheme", "https"},
             {":authority", "a"},
             {":path", "/"}}) == 400);
    Fields without_path = extended_connect("websocket");
    without_path.pop_back();
    CHECK(status_of(without_path, false) == 400);
    CHECK_FALSE(Played{get()}.head.extended_connect);
}
