// Replies in any pieces: each type, each bound, each malformation.
#include "redis/resp/parser.hpp"
#include "resp_text.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace stint::redis;
using Kind = Value::Kind;
using Status = ReplyParser::Status;

namespace {

Value text(std::string_view bytes, Kind kind = Kind::bulk) {
    return {.kind = kind, .text = std::string{bytes}};
}

Value number(std::int64_t integer, Kind kind = Kind::integer) {
    return {.kind = kind, .integer = integer};
}

Value list(std::vector<Value> items, Kind kind = Kind::array) {
    return {.kind = kind, .items = std::move(items)};
}

struct Example {
    std::string_view bytes;
    Value value;
};

std::vector<Example> replies() {
    using namespace std::string_view_literals;
    return {
        {"+OK\r\n", text("OK", Kind::simple)},
        {"+\r\n", text("", Kind::simple)},
        {"-ERR no\r\n", text("ERR no", Kind::error)},
        {":0\r\n", number(0)},
        {":-9223372036854775808\r\n", number(INT64_MIN)},
        {":+9223372036854775807\r\n", number(INT64_MAX)},
        {"$0\r\n\r\n", text("")},
        {"$5\r\nhello\r\n", text("hello")},
        {"$6\r\n\r\n\0\r\n$\r\n"sv, text("\r\n\0\r\n$"sv)},
        {"$-1\r\n", {}},
        {"*-1\r\n", {}},
        {"_\r\n", {}},
        {"#t\r\n", number(1, Kind::boolean)},
        {"#f\r\n", number(0, Kind::boolean)},
        {",1.5\r\n", {.kind = Kind::real, .real = 1.5}},
        {",-10\r\n", {.kind = Kind::real, .real = -10}},
        {",+1e3\r\n", {.kind = Kind::real, .real = 1000}},
        {",inf\r\n", {.kind = Kind::real, .real = INFINITY}},
        {",-inf\r\n", {.kind = Kind::real, .real = -INFINITY}},
        {"(-3492890328409238509324850943850943825024385\r\n",
         text("-3492890328409238509324850943850943825024385", Kind::big_number)},
        {"!11\r\nSYNTAX a\r\nb\r\n", text("SYNTAX a\r\nb", Kind::error)},
        {"=9\r\ntxt:a\r\nbc\r\n", text("a\r\nbc", Kind::verbatim)},
        {"=4\r\nmkd:\r\n", text("", Kind::verbatim)},
        {"*0\r\n", list({})},
        {"*2\r\n:1\r\n*1\r\n$1\r\na\r\n", list({number(1), list({text("a")})})},
        {"*2\r\n*0\r\n$-1\r\n", list({list({}), {}})},
        {"~2\r\n+a\r\n+b\r\n", list({text("a", Kind::simple), text("b", Kind::simple)}, Kind::set)},
        {"%1\r\n$1\r\nk\r\n:7\r\n", list({text("k"), number(7)}, Kind::map)},
        {"%0\r\n", list({}, Kind::map)},
        {">2\r\n+message\r\n:1\r\n", list({text("message", Kind::simple), number(1)}, Kind::push)},
        {"|1\r\n+ttl\r\n:3600\r\n:5\r\n", number(5)},
        {"|0\r\n:5\r\n", number(5)},
        {"*2\r\n:1\r\n|1\r\n+a\r\n*1\r\n:9\r\n:2\r\n", list({number(1), number(2)})},
    };
}

struct Fed {
    Status status;
    Value value;
    std::string_view rest;
    std::string_view fault;
};

// Feeds pieces of these sizes in turn, until one piece ends the reply.
Fed feed(std::string_view bytes, std::size_t first, std::size_t then, Bounds bounds = {}) {
    ReplyParser parser{bounds};
    for (std::size_t size = first;; size = then) {
        std::string_view piece = bytes.substr(0, size);
        const std::string copy{piece}; // on the heap: a parser that kept views would read elsewhere
        piece = copy;
        const Status status = parser.feed(piece);
        bytes.remove_prefix(copy.size() - piece.size());
        if (status == Status::complete)
            return {status, parser.take(), bytes, {}};
        if (status == Status::malformed || bytes.empty())
            return {status, {}, bytes, parser.fault()};
        REQUIRE(piece.empty());
    }
}

// The fault, the same however the bytes are cut; "" for none.
std::string fault(std::string_view bytes, Bounds bounds = {}) {
    const Fed whole = feed(bytes, bytes.size(), bytes.size(), bounds);
    const Fed single = feed(bytes, 1, 1, bounds);
    CHECK(whole.status == single.status);
    CHECK(whole.fault == single.fault);
    return std::string{whole.fault};
}

} // namespace

TEST_CASE("a reply is the same value however it is cut") {
    for (const Example& reply : replies()) {
        CAPTURE(reply.bytes);
        const std::string both = std::string{reply.bytes} + ":42\r\n";
        for (std::size_t cut = 1; cut <= both.size(); ++cut) {
            CAPTURE(cut);
            const Fed fed = feed(both, cut, both.size());
            REQUIRE(fed.status == Status::complete);
            CHECK(fed.value == reply.value);
            CHECK(fed.rest == ":42\r\n");
        }
        CHECK(feed(both, 1, 1).value == reply.value);
    }
}

TEST_CASE("every beginning of a reply is incomplete") {
    for (const Example& reply : replies()) {
        for (std::size_t size = 0; size < reply.bytes.size(); ++size) {
            CAPTURE(reply.bytes);
            CAPTURE(size);
            ReplyParser parser;
            std::string_view part = reply.bytes.substr(0, size);
            CHECK(parser.feed(part) == Status::incomplete);
            CHECK(parser.inside_reply() == (size > 0));
        }
    }
}

TEST_CASE("one parser reads reply after reply") {
    std::string all;
    for (const Example& reply : replies())
        all += reply.bytes;
    ReplyParser parser;
    std::string_view rest = all;
    for (const Example& reply : replies()) {
        CAPTURE(reply.bytes);
        REQUIRE(parser.feed(rest) == Status::complete);
        CHECK_FALSE(parser.inside_reply());
        CHECK(parser.take() == reply.value);
    }
    CHECK(rest.empty());
}

TEST_CASE("a value written as RESP3 is read back") {
    for (const Example& reply : replies()) {
        CAPTURE(reply.bytes);
        const std::string written = stint::test::resp3(reply.value);
        CHECK(feed(written, written.size(), 1).value == reply.value);
    }
}

TEST_CASE("not a number is read, and is equal to nothing") {
    for (const std::string_view bytes : {",nan\r\n", ",-nan\r\n"}) {
        const Fed fed = feed(bytes, 1, 1);
        REQUIRE(fed.status == Status::complete);
        CHECK(fed.value.real != fed.value.real);
    }
}

TEST_CASE("malformed replies") {
    const struct {
        std::string_view bytes;
        std::string_view fault;
    } cases[] = {
        {"\r\n", "a value has an unknown type"},
        {"OK\r\n", "a value has an unknown type"},
        {"HTTP/1.1 400 Bad Request\r\n", "a value has an unknown type"},
        {"\n", "a line does not end with CRLF"},
        {"+OK\n", "a line does not end with CRLF"},
        {"+O\rK\r\n", "a line does not end with CRLF"},
        {"+OK\r\r\n", "a line does not end with CRLF"},
        {"$2\r\nabcd", "a line does not end with CRLF"},
        {"$2\r\nab\n\r", "a line does not end with CRLF"},
        {":\r\n", "a number is malformed"},
        {":1 \r\n", "a number is malformed"},
        {": 1\r\n", "a number is malformed"},
        {":+-1\r\n", "a number is malformed"},
        {":1.0\r\n", "a number is malformed"},
        {":9223372036854775808\r\n", "a number is malformed"},
        {",\r\n", "a number is malformed"},
        {",1,5\r\n", "a number is malformed"},
        {",infinity\r\n", "a number is malformed"},
        {",1e999\r\n", "a number is malformed"},
        {",0x10\r\n", "a number is malformed"},
        {"(12a\r\n", "a number is malformed"},
        {"(-\r\n", "a number is malformed"},
        {"#true\r\n", "a number is malformed"},
        {"_x\r\n", "a length is malformed"},
        {"$\r\n", "a length is malformed"},
        {"$-2\r\n", "a length is malformed"},
        {"$+1\r\n", "a length is malformed"},
        {"$?\r\n", "a length is malformed"},
        {"$18446744073709551616\r\n", "a length is malformed"},
        {"=-1\r\n", "a length is malformed"},
        {"!-1\r\n", "a length is malformed"},
        {"*?\r\n", "a length is malformed"},
        {"%-1\r\n", "a length is malformed"},
        {"~-1\r\n", "a length is malformed"},
        {">-1\r\n", "a length is malformed"},
        {"=3\r\ntxt\r\n", "a verbatim text has no format"},
        {"=5\r\ntextx\r\n", "a verbatim text has no format"},
        {"*1\r\n>1\r\n:1\r\n", "a push message is inside another value"},
        {"$18446744073709551615\r\n", "a text is longer than the bound"},
        {"*18446744073709551615\r\n", "a reply has more elements than the bound"},
        {"%9223372036854775808\r\n", "a reply has more elements than the bound"},
    };
    for (const auto& each : cases) {
        CAPTURE(each.bytes);
        CHECK(fault(each.bytes) == each.fault);
    }
}

TEST_CASE("a malformed reply ends the parser") {
    ReplyParser parser;
    std::string_view bad = "?\r\n:1\r\n";
    CHECK(parser.feed(bad) == Status::malformed);
    CHECK(parser.feed(bad) == Status::malformed);
}

TEST_CASE("bounds hold to the byte") {
    const Bounds bounds{.depth = 2, .text = 10, .elements = 4, .reply = 40};
    const struct {
        std::string_view bytes;
        std::string_view fault; // "": within the bounds
    } cases[] = {
        {"+0123456789\r\n", ""},
        {"+0123456789a\r\n", "a text is longer than the bound"},
        {"+0123456789abcdef", "a text is longer than the bound"},
        {"$10\r\n0123456789\r\n", ""},
        {"$11\r\n", "a text is longer than the bound"},
        {"!11\r\n", "a text is longer than the bound"},
        {"*1\r\n*1\r\n:1\r\n", ""},
        {"*1\r\n*1\r\n*1\r\n", "a reply is nested deeper than the bound"},
        {"*1\r\n*1\r\n*0\r\n", "a reply is nested deeper than the bound"},
        {"|1\r\n*1\r\n*1\r\n", "a reply is nested deeper than the bound"},
        {"*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n", ""},
        {"*5\r\n", "a reply has more elements than the bound"},
        {"%2\r\n:1\r\n:1\r\n:1\r\n:1\r\n", ""},
        {"%3\r\n", "a reply has more elements than the bound"},
        {"*3\r\n*2\r\n", "a reply has more elements than the bound"},
        {"*3\r\n+a\r\n$10\r\n0123456789\r\n$10\r\n0123456789\r\n",
         "a reply is larger than the bound"},
        {"*3\r\n+a\r\n$10\r\n0123456789\r\n$10\r\n", "a reply is larger than the bound"},
        {"*3\r\n+012345678\r\n+012345678\r\n+012345678\r\n", ""}, // 4 + 3 * 12 bytes
        {"*3\r\n+012345678\r\n+012345678\r\n+0123456789\r\n", "a reply is larger than the bound"},
        {"*3\r\n+012345678\r\n+012345678\r\n+0123456789abcdefghijklmnop\r\n",
         "a reply is larger than the bound"},
        {"|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n:1\r\n",
         "a reply is larger than the bound"},
    };
    for (const auto& each : cases) {
        CAPTURE(each.bytes);
        CHECK(fault(each.bytes, bounds) == each.fault);
    }
}

TEST_CASE("bounds are those of each reply, not of the connection") {
    ReplyParser parser{{.depth = 1, .text = 10, .elements = 2, .reply = 20}};
    for (int i = 0; i < 50; ++i) {
        std::string_view reply = "*2\r\n+abc\r\n:1\r\n";
        REQUIRE(parser.feed(reply) == Status::complete);
    }
}

TEST_CASE("an announced size takes no memory before its bytes come") {
    ReplyParser parser{{.depth = 8, .text = 1U << 30U, .elements = 1U << 30U, .reply = 1U << 30U}};
    std::string_view announced = "*2\r\n*900000000\r\n";
    CHECK(parser.feed(announced) == Status::incomplete);
    announced = "$900000000\r\nabc";
    CHECK(parser.feed(announced) == Status::incomplete);
    // With memory for either, the address sanitizer's bound on an allocation would end this test.
}

TEST_CASE("members of a map, and of an array that stands for one") {
    for (const Kind kind : {Kind::map, Kind::array}) {
        const Value value = list({text("a"), number(1), text("b", Kind::simple), number(2)}, kind);
        REQUIRE(value.member("b") != nullptr);
        CHECK(value.member("b")->integer == 2);
        CHECK(value.member("c") == nullptr);
        CHECK(value.member("1") == nullptr);
    }
    CHECK(list({text("a")}).member("a") == nullptr);
    CHECK(text("a").member("a") == nullptr);
}

TEST_CASE("the code of an error is its first word") {
    CHECK(code_of("NOSCRIPT No matching script.") == "NOSCRIPT");
    CHECK(code_of("LOADING") == "LOADING");
    CHECK(code_of("").empty());
}
