#include "routing/trusted_proxies.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::routing;

TrustedProxies
trusting(std::initializer_list<std::string_view> networks, std::string header = "x-forwarded-for") {
    TrustedProxies trusted;
    for (const std::string_view network : networks)
        trusted.networks.push_back(Cidr::parse(network).value());
    trusted.header = std::move(header);
    return trusted;
}

const TrustedProxies inner = trusting({"10.0.0.0/8", "2001:db8:ffff::/48"});

// The client of a request from 10.0.0.1 with these lines of the header.
std::string
client(std::initializer_list<std::string_view> lines, const TrustedProxies& trusted = inner) {
    std::vector<Field> fields{{FieldId::host, "Host", "shop.example"}};
    for (const std::string_view line : lines)
        fields.push_back({FieldId::other, trusted.header, line});
    const IpAddress found = client_behind(IpAddress::parse("10.0.0.1").value(), fields, trusted);
    return std::string{IpText{found}.view()};
}

} // namespace

TEST_CASE("the client is the first from the right that is no trusted proxy") {
    CHECK(client({"192.0.2.1"}) == "192.0.2.1");
    CHECK(client({"192.0.2.1, 10.9.9.9"}) == "192.0.2.1");
    CHECK(client({"192.0.2.1,10.9.9.9 ,\t10.0.0.3"}) == "192.0.2.1");
    CHECK(client({"192.0.2.1, 2001:db8:ffff::7"}) == "192.0.2.1");
}

TEST_CASE("what a client wrote itself stands left of its address and is not read") {
    CHECK(client({"203.0.113.7, 192.0.2.1"}) == "192.0.2.1");
    CHECK(client({"10.0.0.9, 192.0.2.1, 10.0.0.2"}) == "192.0.2.1");
    CHECK(client({"garbage, 192.0.2.1"}) == "192.0.2.1");
}

TEST_CASE("without the header, or with trusted ones alone, the client is the last known hop") {
    CHECK(client({}) == "10.0.0.1");
    CHECK(client({""}) == "10.0.0.1");
    CHECK(client({" , ,"}) == "10.0.0.1");
    CHECK(client({"10.0.0.7, 10.0.0.8"}) == "10.0.0.7");
}

TEST_CASE("what is no address ends the walk at the last trusted hop") {
    for (const std::string_view element :
         {"unknown", "_hidden", "localhost", "1.2.3", "192.0.2.1:", "192.0.2.1:x", "[192.0.2.1]",
          "[2001:db8::1", "2001:db8::1]", "[2001:db8::1]80", "192.0.2.1:123456", "\"192.0.2.1\"",
          "for=192.0.2.1"}) {
        CAPTURE(element);
        const std::string line = "203.0.113.7, " + std::string{element} + ", 10.0.0.5";
        CHECK(client({line}) == "10.0.0.5");
    }
}

TEST_CASE("addresses may have ports and brackets, and be wrapped in IPv6") {
    CHECK(client({"192.0.2.1:4711"}) == "192.0.2.1");
    CHECK(client({"[2001:db8::1]:4711, 10.0.0.9:80"}) == "2001:db8::1");
    CHECK(client({"[2001:db8::1]"}) == "2001:db8::1");
    CHECK(client({"2001:db8::1"}) == "2001:db8::1");
    CHECK(client({"192.0.2.1, ::ffff:10.0.0.4"}) == "192.0.2.1");
    CHECK(client({"64:ff9b::192.0.2.1"}) == "192.0.2.1");
}

TEST_CASE("several lines are one list") {
    CHECK(client({"203.0.113.7", "192.0.2.1, 10.0.0.2", "10.0.0.3"}) == "192.0.2.1");
    CHECK(client({"192.0.2.1", ""}) == "192.0.2.1");
}

TEST_CASE("a header of one value is a list of one") {
    const TrustedProxies by_real_ip = trusting({"10.0.0.0/8"}, "x-real-ip");

    CHECK(client({"192.0.2.1"}, by_real_ip) == "192.0.2.1");
    CHECK(client({}, by_real_ip) == "10.0.0.1");
}

TEST_CASE("of Forwarded the for parameter counts") {
    const TrustedProxies by_forwarded = trusting({"10.0.0.0/8"}, "forwarded");

    CHECK(client({"for=192.0.2.1"}, by_forwarded) == "192.0.2.1");
    CHECK(
        client({"For=\"[2001:db8::1]:80\";proto=https, for=10.0.0.2"}, by_forwarded) ==
        "2001:db8::1");
    CHECK(
        client({"for=203.0.113.7, by=x; for=\"192.0.2.1:80\" ;host=h"}, by_forwarded) ==
        "192.0.2.1");
    CHECK(client({"for=203.0.113.7, for=unknown"}, by_forwarded) == "10.0.0.1");
    CHECK(client({"for=203.0.113.7, proto=http"}, by_forwarded) == "10.0.0.1");
    CHECK(client({"for=203.0.113.7, for=192.0.2.1;for=192.0.2.2"}, by_forwarded) == "10.0.0.1");
    CHECK(client({"for=203.0.113.7, 192.0.2.1"}, by_forwarded) == "10.0.0.1");
    // An open quote of the client's own does not reach what a proxy has added.
    CHECK(client({"for=\"203.0.113.7, for=192.0.2.1"}, by_forwarded) == "192.0.2.1");
}

TEST_CASE("peers of a Unix socket are trusted where that is said") {
    TrustedProxies trusted;
    CHECK(trusted.empty());
    CHECK_FALSE(trusted.contains(IpAddress{}));

    trusted.unix_peers = true;

    CHECK_FALSE(trusted.empty());
    CHECK(trusted.contains(IpAddress{}));
    CHECK_FALSE(trusted.contains(IpAddress::parse("127.0.0.1").value()));
}
