#include "base/ip_address.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace stint;

std::string text_of(std::string_view text) {
    const auto address = IpAddress::parse(text);
    return std::string{address ? IpText{*address}.view() : "no address"};
}

std::string network_of(std::string_view text) {
    const auto cidr = Cidr::parse(text);
    return std::string{cidr ? IpText{*cidr}.view() : "no network"};
}

bool holds(std::string_view network, std::string_view address) {
    return Cidr::parse(network).value().contains(IpAddress::parse(address).value());
}

} // namespace

TEST_CASE("an address and its text are each other's") {
    CHECK(text_of("192.0.2.1") == "192.0.2.1");
    CHECK(text_of("2001:DB8:0:0::1") == "2001:db8::1");
    CHECK(text_of("::") == "::");
    CHECK(
        text_of("2001:db81:1111:2222:3333:4444:5555:6666") ==
        "2001:db81:1111:2222:3333:4444:5555:6666");
    CHECK(IpText{IpAddress{}}.view().empty());
}

TEST_CASE("an IPv4 address in an IPv6 address is that IPv4 address") {
    CHECK(text_of("::ffff:192.0.2.1") == "192.0.2.1");
    CHECK(text_of("64:ff9b::192.0.2.1") == "192.0.2.1");
    CHECK(text_of("64:ff9b::c000:201") == "192.0.2.1");
    CHECK(IpAddress::parse("64:ff9b::c000:201") == IpAddress::parse("192.0.2.1"));

    CHECK(text_of("64:ff9b:1::1") == "64:ff9b:1::1"); // RFC 8215: a network's own, not known
    CHECK(text_of("64:ff9b::1:c000:201") == "64:ff9b::1:c000:201");
}

TEST_CASE("what is not exactly an address is none") {
    for (const std::string_view text :
         {"", " 1.2.3.4", "1.2.3.4 ", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "localhost",
          "[::1]", "::1%eth0", "::g", "1.2.3.4:80", ":::", "unknown", "_hidden"}) {
        CAPTURE(text);
        CHECK_FALSE(IpAddress::parse(text).has_value());
    }
    using namespace std::string_view_literals;
    CHECK_FALSE(IpAddress::parse("1.2.3.4\0x"sv).has_value());
    CHECK(IpAddress::from_bytes("12345").empty());
}

TEST_CASE("a network is what an address's first bits say") {
    CHECK(network_of("2001:db8:1:2:3:4:5:6/64") == "2001:db8:1:2::/64");
    CHECK(network_of("2001:db8:1:2ff::/57") == "2001:db8:1:280::/57");
    CHECK(network_of("192.0.2.129/25") == "192.0.2.128/25");
    CHECK(network_of("192.0.2.129/0") == "0.0.0.0/0");
    CHECK(network_of("192.0.2.129/32") == "192.0.2.129");
    CHECK(network_of("::1/128") == "::1");
    CHECK(IpAddress::parse("192.0.2.1")->network(64) == IpAddress::parse("192.0.2.1"));
}

TEST_CASE("a network holds the addresses that begin as it does") {
    CHECK(holds("10.0.0.0/8", "10.255.255.255"));
    CHECK_FALSE(holds("10.0.0.0/8", "11.0.0.0"));
    CHECK(holds("192.0.2.128/25", "192.0.2.128"));
    CHECK_FALSE(holds("192.0.2.128/25", "192.0.2.127"));
    CHECK(holds("192.0.2.1", "192.0.2.1"));
    CHECK_FALSE(holds("192.0.2.1", "192.0.2.2"));
    CHECK(holds("0.0.0.0/0", "203.0.113.9"));
    CHECK_FALSE(holds("0.0.0.0/0", "2001:db8::1"));
    CHECK_FALSE(holds("::/0", "203.0.113.9"));
    CHECK(holds("2001:db8::/33", "2001:db8:7fff::"));
    CHECK_FALSE(holds("2001:db8::/33", "2001:db8:8000::"));
    CHECK_FALSE(Cidr::parse("0.0.0.0/0")->contains(IpAddress{}));
}

TEST_CASE("an IPv6 network of IPv4 addresses is one of those") {
    CHECK(network_of("::ffff:10.0.0.0/104") == "10.0.0.0/8");
    CHECK(network_of("64:ff9b::/96") == "0.0.0.0/0");
    CHECK(holds("::ffff:10.0.0.0/104", "10.1.2.3"));
    CHECK(network_of("::ffff:10.0.0.0/95") == "no network");
}

TEST_CASE("what is not exactly a network is none") {
    for (const std::string_view text :
         {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/8 ",
          "10.0.0.0/8/8", "10/8", "::/129", "10.0.0.0/255.0.0.0"}) {
        CAPTURE(text);
        CHECK_FALSE(Cidr::parse(text).has_value());
    }
}
