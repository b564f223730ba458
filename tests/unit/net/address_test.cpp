#include "net/address.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using namespace stint::net;
using namespace std::string_view_literals;

} // namespace

TEST_CASE("an address and a port become an endpoint and its text again") {
    std::string address;
    std::string text;
    bool loopback = false;
    SUBCASE("IPv4") {
        address = "192.0.2.1";
        text = "192.0.2.1:8080";
    }
    SUBCASE("IPv4 loopback") {
        address = "127.9.8.7";
        text = "127.9.8.7:8080";
        loopback = true;
    }
    SUBCASE("IPv6") {
        address = "2001:db8::1";
        text = "[2001:db8::1]:8080";
    }
    SUBCASE("IPv6 loopback") {
        address = "::1";
        text = "[::1]:8080";
        loopback = true;
    }
    SUBCASE("any") {
        address = "0.0.0.0";
        text = "0.0.0.0:8080";
    }

    const auto endpoint = ip_endpoint(address, 8080);

    REQUIRE(endpoint.has_value());
    CHECK(to_text(*endpoint) == text);
    CHECK_FALSE(is_unix(*endpoint));
    CHECK(is_loopback(*endpoint) == loopback);
}

TEST_CASE("what is not an address is an error, not a look-up") {
    for (const char* text :
         {"", "localhost", "127.0.0", "1.2.3.4.5", "[::1]", "256.0.0.1", "::g"}) {
        CAPTURE(text);
        CHECK_FALSE(ip_endpoint(text, 80).has_value());
    }
}

TEST_CASE("a path becomes a unix endpoint and its text again") {
    const auto endpoint = unix_endpoint("/run/stint.sock");

    REQUIRE(endpoint.has_value());
    CHECK(is_unix(*endpoint));
    CHECK(is_loopback(*endpoint));
    CHECK(to_text(*endpoint) == "unix:/run/stint.sock");
}

TEST_CASE("a unix path has at least 1 and at most 107 bytes") {
    CHECK_FALSE(unix_endpoint("").has_value());
    CHECK_FALSE(unix_endpoint(std::string(108, 'p')).has_value());

    const std::string longest(107, 'p');
    const auto endpoint = unix_endpoint(longest);

    REQUIRE(endpoint.has_value());
    CHECK(to_text(*endpoint) == "unix:" + longest);
}

TEST_CASE("a peer's address is its bytes in network order, and its text, without the port") {
    std::string address;
    std::string_view bytes;
    std::string_view text;
    SUBCASE("IPv4") {
        address = "192.0.2.1";
        bytes = "\xc0\x00\x02\x01"sv;
        text = "192.0.2.1";
    }
    SUBCASE("IPv6") {
        address = "2001:db8::1";
        bytes = "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"sv;
        text = "2001:db8::1";
    }
    SUBCASE("IPv4 mapped into IPv6 is IPv4: the same client has one key") {
        address = "::ffff:192.0.2.1";
        bytes = "\xc0\x00\x02\x01"sv;
        text = "192.0.2.1";
    }
    SUBCASE("the longest text") {
        address = "2001:db81:1111:2222:3333:4444:5555:6666";
        bytes = "\x20\x01\xdb\x81\x11\x11\x22\x22\x33\x33\x44\x44\x55\x55\x66\x66"sv;
        text = "2001:db81:1111:2222:3333:4444:5555:6666";
    }

    const PeerAddress peer{*ip_endpoint(address, 4711)};

    CHECK(peer.bytes() == bytes);
    CHECK(peer.text() == text);
}

TEST_CASE("the peer of a unix socket has no address") {
    const PeerAddress peer{*unix_endpoint("/run/stint.sock")};

    CHECK(peer.bytes().empty());
    CHECK(peer.text().empty());
}
