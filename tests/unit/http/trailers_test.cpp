#include "http/body_decoder.hpp"
#include "http/trailers.hpp"
#include "http_support.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::http;

bool takes(std::string_view fields) {
    HeadParser parser{test::max_head};
    const std::string head = test::get_with(fields);
    const RequestHead request = parser.parse_request(head).value();
    return request.ids.contains(FieldId::te) && takes_trailers(request);
}

// What of a chunked body's trailer goes on, when the body arrives in two pieces or byte by byte.
std::string passed_on(std::string_view trailer, std::string_view nominated = "") {
    const std::string body = "1;x\r\na\r\n0;y=z\r\n" + std::string{trailer} + "\r\n";
    std::string whole;
    for (std::size_t cut = 0; cut <= body.size() + 1; ++cut) {
        CAPTURE(cut);
        std::array<char, BodyDecoder::max_trailer_bytes> place;
        BodyDecoder decoder{{BodyFraming::Kind::chunked, 0}};
        decoder.keep_trailer(place.data());
        const std::size_t step = cut > body.size() ? 1 : cut == 0 ? body.size() : cut;
        for (std::size_t at = 0; at < body.size(); at += cut <= body.size() ? body.size() : step) {
            std::string first = body.substr(at, step);
            CHECK(decoder.decode(first).has_value());
            std::string second = cut <= body.size() ? body.substr(step) : "";
            CHECK(decoder.decode(second).has_value());
        }
        CHECK(decoder.done());
        std::string out;
        append_trailer_fields(out, decoder.trailer(), nominated);
        if (cut == 0)
            whole = out;
        CHECK(out == whole);
    }
    return whole;
}

std::string told(std::string_view fields) {
    HeadParser parser{test::max_head};
    const std::string head = "HTTP/1.1 200 OK\r\n" + std::string{fields} + "\r\n";
    HeadBuffer out;
    write_trailer_field(out, parser.parse_response(head, "GET").value().fields);
    return std::string{out.view()};
}

} // namespace

TEST_CASE("trailers are taken by who says so") {
    CHECK(takes("TE: trailers\r\n"));
    CHECK(takes("TE: gzip;q=0.5, Trailers\r\nConnection: TE\r\n"));
    CHECK(takes("TE: deflate\r\nTE: trailers\r\n"));
    CHECK_FALSE(takes("TE: gzip\r\n"));
    CHECK_FALSE(takes("TE: trailers;q=0\r\n"));
    CHECK_FALSE(takes("TE:\r\n"));
    CHECK_FALSE(takes(""));
    CHECK_FALSE(takes("Trailer: X\r\n"));
}

TEST_CASE("an ordinary trailer field goes on as the gateway spells it, however it arrives") {
    CHECK(passed_on("") == "");
    CHECK(passed_on("X-Sum: 1\r\n") == "X-Sum: 1\r\n");
    CHECK(
        passed_on("x-sum:1 2\t\r\nEmpty:\r\nX-Sum:\t 3\r\n") ==
        "x-sum: 1 2\r\nEmpty: \r\nX-Sum: 3\r\n");
    CHECK(passed_on("A: b:c\r\n") == "A: b:c\r\n");
}

TEST_CASE("a trailer never frames, routes, authenticates or controls") {
    const std::vector<std::string_view> names{
        "Transfer-Encoding",
        "Content-Length",
        "content-type",
        "Content-Encoding",
        "Content-Range",
        "Host",
        "Trailer",
        "TE",
        "Connection",
        "Keep-Alive",
        "Upgrade",
        "Proxy-Connection",
        "Proxy-Authenticate",
        "Authorization",
        "WWW-Authenticate",
        "Authentication-Info",
        "Cookie",
        "SET-COOKIE",
        "Cache-Control",
        "Expires",
        "Age",
        "Date",
        "Vary",
        "Warning",
        "Pragma",
        "Location",
        "Retry-After",
        "RateLimit",
        "RateLimit-Policy",
        "X-RateLimit-Limit",
        "Expect",
        "Max-Forwards",
        "Range",
        "If-Match",
        "If-Modified-Since",
        "Forwarded",
        "X-Forwarded-For",
        "Via",
        "X-Request-Id",
        "X-Stint-Ticket",
        "HTTP2-Settings",
        "Content_Length",
        "Transfer_Encoding",
        "x_stint_ticket",
        "Keep_Alive"};
    for (const std::string_view name : names) {
        CAPTURE(name);
        CHECK_FALSE(may_be_trailer(name));
        CHECK(passed_on(std::string{name} + ": 1\r\nX: 2\r\n") == "X: 2\r\n");
    }
    CHECK(may_be_trailer("Server-Timing"));
    CHECK(may_be_trailer("Digest"));
    CHECK(may_be_trailer("Ag"));
}

TEST_CASE("what the head's Connection nominates does not come as a trailer either") {
    CHECK(passed_on("X-A: 1\r\nX-B: 2\r\n", "close,x-a,") == "X-B: 2\r\n");
}

TEST_CASE("a trailer is kept up to its limit, and whole") {
    std::array<char, BodyDecoder::max_trailer_bytes> place;
    const auto kept = [&place](std::size_t size) {
        BodyDecoder decoder{{BodyFraming::Kind::chunked, 0}};
        decoder.keep_trailer(place.data());
        std::string body = "0\r\nA:" + std::string(size, 't') + "\r\n\r\n";
        return decoder.decode(body).has_value() ? decoder.trailer().size() : 0;
    };

    // The name, the colon and two CRs.
    CHECK(kept(place.size() - 4) == place.size());
    CHECK(kept(place.size() - 3) == 0);
}

TEST_CASE("a trailer that nobody asked for is not kept") {
    BodyDecoder decoder{{BodyFraming::Kind::chunked, 0}};
    std::string body = "0\r\nA: b\r\n\r\n";
    REQUIRE(decoder.decode(body).has_value());

    CHECK(decoder.done());
    CHECK(decoder.trailer().empty());
}

TEST_CASE("the Trailer field tells of those that may come") {
    CHECK(told("Trailer: X-Sum, Server-Timing\r\n") == "Trailer: X-Sum, Server-Timing\r\n");
    CHECK(
        told("Trailer: Content-Length ,X-A,, \"x\"\r\ntrailer: x-b\r\nConnection: X-A\r\n") ==
        "Trailer: x-b\r\n");
    CHECK(told("Trailer: Set-Cookie\r\n") == "");
    CHECK(told("X: y\r\n") == "");
}
