#include "config/values/addresses.hpp"

#include <doctest/doctest.h>

namespace stint::config {

TEST_CASE("an address keeps what was written beside what it means") {
    const auto address = parse_address("[0:0:0:0:0:0:0:1]:80");

    REQUIRE(address);
    CHECK((*address).host == "::1");
    CHECK((*address).port == 80);
    CHECK((*address).text == "[0:0:0:0:0:0:0:1]:80");
}

TEST_CASE("an endpoint keeps what was written beside what it means") {
    const auto endpoint = parse_endpoint("http://[::1]/");

    REQUIRE(endpoint);
    CHECK((*endpoint).host == "::1");
    CHECK((*endpoint).port == 80);
    CHECK((*endpoint).text == "http://[::1]/");
}

TEST_CASE("only this machine reaches a loopback address or a socket") {
    const auto local = [](std::string_view text) { return is_local(*parse_address(text)); };

    CHECK(local("127.0.0.1:1"));
    CHECK(local("127.255.0.1:1"));
    CHECK(local("[::1]:1"));
    CHECK(local("unix:/run/s"));
    CHECK_FALSE(local("0.0.0.0:1"));
    CHECK_FALSE(local("[::]:1"));
    CHECK_FALSE(local("128.0.0.1:1"));
}

TEST_CASE("a host name has labels of letters, digits, hyphens and underscores") {
    CHECK(is_host_name("a"));
    CHECK(is_host_name("a_b.c-d.1e"));
    CHECK(is_host_name(std::string(63, 'a') + ".b"));
    CHECK_FALSE(is_host_name(std::string(64, 'a') + ".b"));
    CHECK_FALSE(is_host_name(""));
    CHECK_FALSE(is_host_name("a."));
    CHECK_FALSE(is_host_name(".a"));
    CHECK_FALSE(is_host_name("a.1"));
    CHECK_FALSE(is_host_name("-a"));
    CHECK_FALSE(is_host_name("a-"));
    CHECK_FALSE(is_host_name("a-.b"));
    CHECK_FALSE(is_host_name("a b"));
}

} // namespace stint::config
