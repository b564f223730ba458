#include "http/head_parser.hpp"
#include "permits/forwarded_request.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace stint;

namespace {

constexpr std::string_view good = "X-Forwarded-Method: POST\r\nX-Forwarded-Host: Shop.example:8\r\n"
                                  "X-Forwarded-Uri: /a%20b?c=d\r\nX-Forwarded-For: 192.0.2.1\r\n";

// The text, or "! " and why there is none.
std::string described(
    std::string_view fields, bool has_token = false, std::string_view by = "x-forwarded-for") {
    http::HeadParser parser{16 * 1024};
    std::string head{"GET /v1/check HTTP/1.1\r\nHost: 127.0.0.1:8082\r\n"};
    head.append(fields).append("\r\n");
    const auto asking = parser.parse_request(head);
    REQUIRE(asking.has_value());
    std::string text;
    const auto written = permits::write_forwarded_request(text, *asking, by, has_token);
    return written ? text : "! " + written.error();
}

bool is_refused(std::string_view text) {
    return text.starts_with("! ");
}

std::string without(std::string_view name) {
    std::string fields{good};
    const std::size_t at = fields.find(name);
    return fields.erase(at, fields.find("\r\n", at) + 2 - at);
}

} // namespace

TEST_CASE("the described request is written as its client may have sent it") {
    const auto text = described(
        std::string{good} +
        "X-Forwarded-Proto: https\r\nX-Api-Key: k\r\nConnection: close\r\nTE: x\r\n"
        "Content-Length: 0\r\nCookie: a=b\r\nAuthorization: Basic x\r\nX-Stint-Permit: p\r\n");

    CHECK(
        text ==
        "POST /a%20b?c=d HTTP/1.1\r\nHost: Shop.example:8\r\nX-Forwarded-For: 192.0.2.1\r\n"
        "X-Api-Key: k\r\nCookie: a=b\r\nAuthorization: Basic x\r\nX-Stint-Permit: p\r\n\r\n");
}

TEST_CASE("the token of the asking proxy is not the described client's") {
    const auto text = described(std::string{good} + "authorization: Bearer t\r\n", true);

    CHECK_FALSE(is_refused(text));
    CHECK(text.find("Bearer") == std::string::npos);
}

TEST_CASE("each part must be there, once") {
    for (const std::string_view name :
         {"X-Forwarded-Method", "X-Forwarded-Host", "X-Forwarded-Uri"}) {
        CAPTURE(name);
        const auto missing = described(without(name));
        const auto empty = described(without(name) + std::string{name} + ":\r\n");
        const auto twice = described(std::string{good} + std::string{name} + ": /\r\n");
        CHECK(missing == "! the request that is asked about has no " + std::string{name});
        CHECK(empty == missing);
        CHECK(twice == "! the request that is asked about has more than one " + std::string{name});
    }
    CHECK(is_refused(described(without("X-Forwarded-For"))));
    CHECK(is_refused(described(good, false, "x-real-ip")));
    CHECK_FALSE(is_refused(
        described(without("X-Forwarded-For") + "X-Real-Ip: 192.0.2.1\r\n", false, "x-real-ip")));
}

TEST_CASE("no part can say more than it should") {
    for (const std::string_view evil :
         {"X-Forwarded-Uri: / HTTP/1.1 /b", "X-Forwarded-Uri: /a b", "X-Forwarded-Uri: /a\tb",
          "X-Forwarded-Method: GET /b", "X-Forwarded-Method: GET /b HTTP/1.1",
          "X-Forwarded-Method: G\xc3\xa9T"}) {
        CAPTURE(evil);
        const std::string name{evil.substr(0, evil.find(':'))};
        CHECK(is_refused(described(without(name) + std::string{evil} + "\r\n")));
    }
}
