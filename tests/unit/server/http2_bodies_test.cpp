#include "server/http2_bodies.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

using namespace stint::server;

namespace {

void append(Http2RequestBody& body, std::string_view bytes) {
    body.append({bytes.data(), bytes.size()});
}

std::string take(Http2RequestBody& body, std::size_t most) {
    std::string into(most, ' ');
    into.resize(body.take(into));
    return into;
}

std::string take(Http2ResponseBody& body, std::size_t size) {
    const auto [first, second] = body.take(size);
    return std::string{first}.append("|").append(second);
}

} // namespace

TEST_CASE("what comes before the request is dispatched stays in place") {
    Http2RequestBody body;
    body.begin();
    append(body, "ab");
    append(body, "c");
    body.dispatch();
    const std::string_view first = body.first();
    append(body, std::string(10'000, 'x'));
    CHECK(first == "abc");
    CHECK(body.size() == 10'000);
    body.drop_first();
    CHECK(body.first().empty());
}

TEST_CASE("bytes of a request's body are taken in order, however they come") {
    Http2RequestBody body;
    body.begin();
    body.dispatch();
    append(body, "abcdef");
    CHECK(take(body, 4) == "abcd");
    append(body, "gh");
    CHECK(take(body, 1) == "e");
    CHECK(take(body, 9) == "fgh");
    CHECK(take(body, 9).empty());
    CHECK_FALSE(body.ended());
    body.end();
    CHECK(body.ended());
}

TEST_CASE("what was taken of a response stays in place until more is kept") {
    Http2ResponseBody body;
    body.begin();
    body.add_in_place("abc");
    body.keep();
    const auto first = body.take(3); // all of the copies
    body.add_in_place("defg");
    const auto second = body.take(4);
    CHECK(first.first == "abc");
    CHECK(second.second == "defg");
}

TEST_CASE("a response's copies are sent before the bytes in place") {
    Http2ResponseBody body;
    body.begin();
    const std::string one = "abc";
    body.add_in_place(one);
    CHECK(body.is_in_place());
    body.keep();
    CHECK_FALSE(body.is_in_place());
    const std::string two = "defg";
    body.add_in_place(two);
    CHECK(body.size() == 7);
    CHECK(take(body, 2) == "ab|");
    CHECK(take(body, 2) == "c|d");
    CHECK(take(body, 3) == "|efg");
    CHECK(body.size() == 0);
    CHECK_FALSE(body.last());
    body.end("x: y\r\n");
    CHECK(body.last());
    CHECK(body.trailer() == "x: y\r\n");
}
