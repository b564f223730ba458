#include "http/body_decoder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::http;
using Kind = BodyFraming::Kind;

struct Outcome {
    std::string payload;
    std::size_t consumed = 0;
    bool done = false;
    bool failed = false;

    friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    return out << '"' << outcome.payload << "\", consumed " << outcome.consumed << ", done "
               << outcome.done << ", failed " << outcome.failed;
}

// Decodes `pieces` as they would arrive. What a failed piece had in it does not count.
Outcome decode(BodyFraming framing, const std::vector<std::string_view>& pieces) {
    BodyDecoder decoder{framing};
    Outcome outcome;
    for (const std::string_view piece : pieces) {
        std::vector<char> data(piece.begin(), piece.end());
        const auto step = decoder.decode(data);
        if (!step)
            return {"", 0, false, true};
        outcome.payload.append(data.data(), step->payload);
        outcome.consumed += step->consumed;
    }
    outcome.done = decoder.done();
    return outcome;
}

std::vector<std::string_view> bytes_of(std::string_view text) {
    std::vector<std::string_view> pieces;
    for (std::size_t i = 0; i < text.size(); ++i)
        pieces.push_back(text.substr(i, 1));
    return pieces;
}

// The outcome of `text` whole, having checked that it is the same cut in two anywhere and byte by
// byte. What comes after the end stays with the caller.
Outcome decode_any_way(BodyFraming framing, std::string_view text) {
    const Outcome whole = decode(framing, {text});
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        CAPTURE(cut);
        CHECK(decode(framing, {text.substr(0, cut), text.substr(cut)}) == whole);
    }
    CHECK(decode(framing, bytes_of(text)) == whole);
    return whole;
}

Outcome decode_chunked(std::string_view text) {
    return decode_any_way({Kind::chunked, 0}, text);
}

bool refused(std::string_view text) {
    return decode_chunked(text).failed;
}

} // namespace

TEST_CASE("a chunked body is the same however it arrives") {
    constexpr std::string_view text = "5\r\nhello\r\n1\r\n,\r\n6\r\n world\r\n0\r\n\r\n";

    CHECK(decode_chunked(text) == Outcome{"hello, world", text.size(), true, false});
}

TEST_CASE("the size of a chunk is hexadecimal in either case") {
    CHECK(
        decode_chunked("a\r\n0123456789\r\nB\r\n0123456789a\r\n000\r\n\r\n").payload.size() == 21);
}

TEST_CASE("a body may have any number of chunks") {
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += "001\r\nx\r\n";
    text += "0\r\n\r\n";

    CHECK(decode_chunked(text) == Outcome{std::string(100, 'x'), text.size(), true, false});
}

TEST_CASE("bytes after a body's end are left to the next message") {
    const Outcome chunked = decode_chunked("1\r\nx\r\n0\r\n\r\nGET / HTTP/1.1\r\n");
    CHECK(chunked == Outcome{"x", 11, true, false});

    const Outcome sized = decode_any_way({Kind::length, 3}, "abcGET");
    CHECK(sized == Outcome{"abc", 3, true, false});
}

TEST_CASE("chunk extensions are dropped") {
    CHECK(decode_chunked("1;a=b\r\nx\r\n1 ; c=\"d;e\"\r\ny\r\n0;f\r\n\r\n").payload == "xy");
}

TEST_CASE("a line end within a chunk extension is refused, quoted or not") {
    CHECK(refused("1;a=\"b\nc\"\r\nx\r\n0\r\n\r\n"));
    CHECK(refused("1;a\nx\r\n0\r\n\r\n"));
    CHECK(refused("1;a=\"b\rc\"\r\nx\r\n0\r\n\r\n"));
    CHECK(refused({"1;a=\0\r\nx\r\n0\r\n\r\n", 16}));
}

TEST_CASE("trailer fields are dropped") {
    CHECK(
        decode_chunked("1\r\nx\r\n0\r\nConnection: close\r\nA:\r\n\r\n") ==
        Outcome{"x", 34, true, false});
}

TEST_CASE("a trailer that is no field is refused") {
    CHECK(refused("0\r\nGET / HTTP/1.1\r\n\r\n"));
    CHECK(refused("0\r\n folded\r\n\r\n"));
    CHECK(refused("0\r\nA: b\n\r\n"));
    CHECK(refused("0\r\n: b\r\n\r\n"));
}

TEST_CASE("chunked framing that is not exact is refused") {
    CHECK(refused("\r\nx\r\n"));
    CHECK(refused(";a\r\nx\r\n"));
    CHECK(refused(" 1\r\nx\r\n"));
    CHECK(refused("+1\r\nx\r\n"));
    CHECK(refused("0x1\r\nx\r\n"));
    CHECK(refused("g\r\nx\r\n"));
    CHECK(refused("1 \r\nx\r\n"));
    CHECK(refused("1 1\r\nx\r\n"));
    CHECK(refused("1\nx\r\n"));
    CHECK(refused("1\r\rx\r\n"));
    CHECK(refused("1\r\nxy\r\n"));
    CHECK(refused("1\r\nx\n"));
    CHECK(refused("1\r\nx\r\r"));
    CHECK(refused("0\r\n\rx"));
    CHECK(refused("-1\r\n"));
}

TEST_CASE("a chunk size of more than 15 digits is refused") {
    CHECK(decode({Kind::chunked, 0}, {"00000000000000f\r\n"}).failed == false);
    CHECK(refused("000000000000000f\r\n"));
    CHECK(refused("ffffffffffffffff\r\n"));
}

TEST_CASE("the extensions of a whole body are limited") {
    std::string within_limit;
    for (int i = 0; i < 4; ++i)
        within_limit += "1;" + std::string(1000, 'e') + "\r\nx\r\n";
    const std::string beyond = within_limit + "1;" + std::string(1000, 'e') + "\r\nx\r\n";

    CHECK_FALSE(decode({Kind::chunked, 0}, {within_limit}).failed);
    CHECK(decode({Kind::chunked, 0}, {beyond}).failed);
    CHECK(decode({Kind::chunked, 0}, bytes_of(beyond)).failed);
}

TEST_CASE("the trailer of a body is limited") {
    const auto body = [](std::size_t size) {
        return "0\r\nA: " + std::string(size, 't') + "\r\n\r\n";
    };

    CHECK(decode({Kind::chunked, 0}, {body(8000)}).done);
    CHECK(decode({Kind::chunked, 0}, {body(9000)}).failed);
}

TEST_CASE("a failure lasts") {
    BodyDecoder decoder{{Kind::chunked, 0}};
    std::string bad = "x";
    REQUIRE(decoder.decode(bad).has_error());

    std::string good = "0\r\n\r\n";
    CHECK(decoder.decode(good).has_error());
    CHECK_FALSE(decoder.done());
    CHECK_FALSE(decoder.end_of_stream());
}

TEST_CASE("a body of a known length ends there and nowhere earlier") {
    BodyDecoder decoder{{Kind::length, 4}};
    std::string data = "abc";
    REQUIRE(decoder.decode(data)->payload == 3);
    CHECK_FALSE(decoder.done());
    CHECK_FALSE(decoder.end_of_stream());

    CHECK(decoder.decode(data)->consumed == 1);
    CHECK(decoder.done());
    CHECK(decoder.end_of_stream());
}

TEST_CASE("a message without a body is done before its first byte") {
    CHECK(BodyDecoder{{Kind::none, 0}}.done());
    CHECK(BodyDecoder{{Kind::length, 0}}.done());
    CHECK(decode_any_way({Kind::none, 0}, "GET") == Outcome{"", 0, true, false});
}

TEST_CASE("only the end of the stream ends a close-delimited body") {
    BodyDecoder decoder{{Kind::until_close, 0}};
    std::string data = "abc";
    REQUIRE(decoder.decode(data)->payload == 3);
    CHECK_FALSE(decoder.done());

    CHECK(decoder.end_of_stream());
    CHECK(decoder.done());
}

TEST_CASE("a chunked body that breaks off is incomplete") {
    constexpr std::string_view text = "1\r\nx\r\n0\r\nA: b\r\n\r\n";
    for (std::size_t size = 0; size < text.size(); ++size) {
        BodyDecoder decoder{{Kind::chunked, 0}};
        std::string data{text.substr(0, size)};
        REQUIRE(decoder.decode(data).has_value());
        CHECK_FALSE(decoder.end_of_stream());
    }
}

TEST_CASE("no data is no progress") {
    BodyDecoder decoder{{Kind::chunked, 0}};

    const auto step = decoder.decode({});

    CHECK(step->payload == 0);
    CHECK(step->consumed == 0);
}

TEST_CASE("what passes by a body of known length counts as decoded") {
    BodyDecoder decoder{{Kind::length, 10}};
    std::string data = "abc";
    REQUIRE(decoder.decode(data)->payload == 3);
    CHECK(decoder.unframed() == 7);

    decoder.pass(6);
    CHECK(decoder.unframed() == 1);
    CHECK_FALSE(decoder.done());
    CHECK_FALSE(decoder.end_of_stream());

    decoder.pass(1);
    CHECK(decoder.unframed() == 0);
    CHECK(decoder.done());
}

TEST_CASE("a close-delimited body has no framing anywhere, and no end of its own") {
    BodyDecoder decoder{{Kind::until_close, 0}};
    CHECK(decoder.unframed() == BodyDecoder::unbounded);

    decoder.pass(1'000);

    CHECK(decoder.unframed() == BodyDecoder::unbounded);
    CHECK(decoder.end_of_stream());
    CHECK(decoder.unframed() == 0);
}

TEST_CASE("of a chunked body every byte may be framing") {
    BodyDecoder decoder{{Kind::chunked, 0}};
    std::string data = "a\r\nabc";
    REQUIRE(decoder.decode(data)->payload == 3);

    CHECK(decoder.unframed() == 0);
}

TEST_CASE("what a decoder has read so far can be written for another one, at every byte") {
    const std::string_view text =
        "5;ext=1\r\nhello\r\n006 ;a=\"b\"\r\n world\r\n1\r\n!\r\n0;last\r\n"
        "A: b\r\nCd: \r\n\r\nGET";
    const Outcome whole = decode({Kind::chunked}, {text});
    REQUIRE(whole.payload == "hello world!");
    REQUIRE(whole.done);
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        CAPTURE(cut);
        BodyDecoder first{{Kind::chunked}};
        std::vector<char> data(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(cut));
        const auto step = first.decode(data);
        REQUIRE(step.has_value());
        const auto framed = first.framed({data.data(), step->payload});
        if (const std::size_t trailer = text.find("A: b"); cut > trailer && !first.done()) {
            const std::string_view read = text.substr(0, cut); // to the end of a trailer's line
            CHECK(framed.has_value() == (read.ends_with("\n") || read.ends_with("\n\r")));
        }
        if (!framed)
            continue;
        std::string again = *framed;
        const std::size_t lead = again.size();
        again.append(text.substr(step->consumed));

        const Outcome second = decode({Kind::chunked}, {again});

        CHECK(second.payload == whole.payload);
        CHECK(second.done);
        CHECK(again.substr(second.consumed) == "GET");
        if (first.done())
            CHECK(second.consumed == lead);
    }
}
