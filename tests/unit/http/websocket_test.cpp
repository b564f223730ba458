#include "base/message.hpp"
#include "http/upgrade.hpp"
#include "http/websocket.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace stint;
using namespace stint::http;

TEST_CASE("a key is 16 bytes in base64") {
    std::array<std::uint8_t, 16> nonce{};
    for (std::uint8_t i = 0; i < 16; ++i)
        nonce[i] = static_cast<std::uint8_t>(i + 1);
    CHECK(websocket_key(nonce) == "AQIDBAUGBwgJCgsMDQ4PEA=="); // RFC 6455 section 4.1
    nonce.fill(0xff);
    CHECK(websocket_key(nonce) == "/////////////////////w==");
}

TEST_CASE("the answer to a key") {
    CHECK(websocket_accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    // Messages that end before, at and behind the place of SHA-1's length, by Python's hashlib.
    CHECK(websocket_accept(std::string(19, 'a')) == "yzaGyu0mcUukN7CdsSwa30tnCpc=");
    CHECK(websocket_accept(std::string(20, 'a')) == "dUYRM7bOMwDmbriNIPr11x+r3E0=");
    CHECK(websocket_accept(std::string(28, 'a')) == "xMWmCBqYJY4uXzUs8PNU1t+Pzro=");
    CHECK(websocket_accept(std::string(200, 'a')) == "W7nwfYCuwcatB7HT3divf5cVU2A=");
}

TEST_CASE("a 101 accepts the WebSocket that was asked for, or none") {
    RequestHead request;
    const std::array asked{Field{FieldId::other, "sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}};
    request.fields = asked;
    ResponseHead answer;
    CHECK_FALSE(accepts_websocket(request, answer));
    std::array told{Field{FieldId::other, "Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}};
    answer.fields = told;
    CHECK(accepts_websocket(request, answer));
    told[0].value = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo";
    CHECK_FALSE(accepts_websocket(request, answer));
}
