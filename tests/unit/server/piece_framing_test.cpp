#include "server/piece_framing.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace stint;
using server::PieceFraming;
using server::ResponsePiece;

namespace {

PieceFraming framing_of(http::ResponseFraming framing) {
    PieceFraming pieces;
    pieces.begin(framing);
    return pieces;
}

std::string framed(PieceFraming& framing, const ResponsePiece& piece) {
    net::Gather gather;
    framing.add(gather, piece);
    std::string text;
    gather.append_to(text);
    return text;
}

} // namespace

TEST_CASE("a piece of a body with a length stays as it is") {
    PieceFraming framing = framing_of({});

    CHECK(framed(framing, {"hello"}) == "hello");
    CHECK(framed(framing, {" world", true}) == " world");
    CHECK(framed(framing, {"", true}).empty());
}

TEST_CASE("each piece of a chunked body is a chunk, and the last one brings the end") {
    PieceFraming framing = framing_of({.chunked = true});

    CHECK(framed(framing, {"hello"}) == "5\r\nhello\r\n");
    CHECK(framed(framing, {std::string(26, 'x')}) == "1a\r\n" + std::string(26, 'x') + "\r\n");
    CHECK(framed(framing, {"end", true}) == "3\r\nend\r\n0\r\n\r\n");
}

TEST_CASE("an empty piece is no chunk: that would end the body") {
    PieceFraming framing = framing_of({.chunked = true});

    CHECK(framed(framing, {""}).empty());
    CHECK(framed(framing, {"", true}) == "0\r\n\r\n");
}

TEST_CASE("trailer fields follow the last chunk where the head has announced them") {
    constexpr std::string_view trailer = "Digest: abc\rX-Hop: 1\r\r";

    SUBCASE("announced") {
        PieceFraming framing = framing_of({.chunked = true, .trailers = true});
        CHECK(
            framed(framing, {"a", true, trailer, "x-hop"}) == "1\r\na\r\n0\r\nDigest: abc\r\n\r\n");
    }
    SUBCASE("not announced") {
        PieceFraming framing = framing_of({.chunked = true});
        CHECK(framed(framing, {"a", true, trailer, ""}) == "1\r\na\r\n0\r\n\r\n");
    }
    SUBCASE("of a body that is not chunked") {
        PieceFraming framing = framing_of({.trailers = true});
        CHECK(framed(framing, {"a", true, trailer, ""}) == "a");
    }
}

TEST_CASE("a framing that begins again knows nothing of the response before") {
    PieceFraming framing = framing_of({.chunked = true, .trailers = true});
    CHECK(
        framed(framing, {"a", true, "Digest: abc\r\r", ""}) ==
        "1\r\na\r\n0\r\nDigest: abc\r\n\r\n");

    framing.begin({.chunked = true});
    CHECK(framed(framing, {"", true}) == "0\r\n\r\n");
    framing.begin({});
    CHECK(framed(framing, {"a", true}) == "a");
    CHECK_FALSE(framing.chunked());
}
