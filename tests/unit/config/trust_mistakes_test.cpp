// Trusted proxies, and mistakes in them.
#include "config_support.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace stint::config {

namespace {

TrustedProxies trusted(std::string_view lines) {
    return loaded(std::string{base} + std::string{lines} + "\nroutes: []\n").trusted_proxies;
}

} // namespace

TEST_CASE("nobody is trusted unless the file says so") {
    CHECK(trusted("").networks.empty());
    CHECK_FALSE(trusted("").unix_peers);
    CHECK(trusted("trusted_proxies: []").networks.empty());
}

TEST_CASE("networks, addresses and Unix sockets may be trusted") {
    const TrustedProxies found =
        trusted("trusted_proxies: [10.0.0.0/8, '2001:db8::/32', 192.0.2.1, unix]");

    REQUIRE(found.networks.size() == 3);
    CHECK(IpText{found.networks[0]}.view() == "10.0.0.0/8");
    CHECK(IpText{found.networks[1]}.view() == "2001:db8::/32");
    CHECK(IpText{found.networks[2]}.view() == "192.0.2.1");
    CHECK(found.unix_peers);
    CHECK(found.header == "x-forwarded-for");
    CHECK(trusted("trusted_proxies: [unix]\nclient_ip_header: X-Real-IP").header == "x-real-ip");
}

TEST_CASE("what is no network is a mistake") {
    const std::string end = "\nroutes: []\n";
    check_added(
        "trusted_proxies: 10.0.0.0/8" + end,
        {"3:18: trusted_proxies: found the value \"10.0.0.0/8\"; expected a list of networks"});
    check_added(
        "trusted_proxies: [localhost]" + end, {"3:19: trusted_proxies[0]: \"localhost\" is not a "
                                               "network; expected one such as 10.0.0.0/8"});
    check_added(
        "trusted_proxies: [10.0.0.1/8]" + end,
        {"3:19: \"10.0.0.1/8\" has bits beyond its prefix; did you mean \"10.0.0.0/8\"?"});
    check_added("trusted_proxies: [10.0.0.0/33]" + end, {"3:19: is not a network"});
    check_added(
        "trusted_proxies: [10.0.0.0/8, '::ffff:10.0.0.0/104']" + end,
        {"3:31: \"10.0.0.0/8\" is listed already"});
    check_added("trusted_proxies: [unix, unix]" + end, {"3:25: \"unix\" is listed already"});
}

TEST_CASE("a client's header has a name that may name one, and somebody to believe") {
    const std::string end = "\nroutes: []\n";
    check_added(
        "client_ip_header: X-Real-IP" + end,
        {"3:1: client_ip_header: has no use without trusted_proxies"});
    check_added(
        "trusted_proxies: [unix]\nclient_ip_header: 'a b'" + end,
        {"4:19: \"a b\" is not the name of a header"});
    check_added(
        "trusted_proxies: [unix]\nclient_ip_header: Host" + end,
        {"4:19: \"Host\" does not name a client"});
}

TEST_CASE("the name for Via is a token, or off") {
    const auto via = [](std::string_view text) {
        return loaded(std::string{base} + "via: " + std::string{text} + "\nroutes: []\n").hop.via;
    };
    CHECK(via("edge-1.example") == "edge-1.example");
    CHECK(via("off") == "");
    CHECK(via(std::string(64, 'a')) == std::string(64, 'a'));
    check_added(
        "via: 'a b'\nroutes: []\n",
        {"3:6: via: \"a b\" is no name for Via; expected off, or up to 64 letters"});
    check_added("via: ''\nroutes: []\n", {"3:6: via: \"\" is no name for Via"});
    check_added("via: " + std::string(65, 'a') + "\nroutes: []\n", {"3:6: is no name for Via"});
    check_added("via: [a]\nroutes: []\n", {"3:6: via: found a list; expected off, or a name"});
}

TEST_CASE("what only trusted proxies may say is listed by name, or by how names begin") {
    const std::vector<std::string> usual = trusted("").fields;
    CHECK(std::ranges::find(usual, "X-Forwarded-*") != usual.end());
    CHECK(std::ranges::find(usual, "X-Real-IP") != usual.end());
    CHECK(std::ranges::find(usual, "True-Client-IP") != usual.end());
    CHECK(trusted("trusted_fields: []").fields.empty());
    CHECK(
        trusted("trusted_fields: [X-Own-*, X-Mine]").fields ==
        std::vector<std::string>{"X-Own-*", "X-Mine"});
}

TEST_CASE("what is no such name is a mistake") {
    const std::string end = "\nroutes: []\n";
    check_added(
        "trusted_fields: X-Real-IP" + end,
        {"3:17: trusted_fields: found the value \"X-Real-IP\"; expected a list of headers"});
    check_added(
        "trusted_fields: ['a b']" + end,
        {"3:18: trusted_fields[0]: \"a b\" is not the name of a header; expected one such as"});
    check_added("trusted_fields: ['*']" + end, {"3:18: \"*\" is not the name of a header"});
    check_added("trusted_fields: ['X-*-a']" + end, {"3:18: \"X-*-a\" is not the name of a header"});
    check_added("trusted_fields: ['']" + end, {"3:18: \"\" is not the name of a header"});
    check_added(
        "trusted_fields: [x-a, X-Host, Host]" + end,
        {"3:31: \"Host\" is written or removed by Stint, whoever sends it"});
    check_added(
        "trusted_fields: [X-Stint-*]" + end,
        {"3:18: \"X-Stint-*\" is written or removed by Stint"});
    check_added(
        "trusted_fields: [X-A, x-a]" + end, {"3:23: trusted_fields[1]: \"x-a\" is listed already"});
    std::string many = "trusted_fields: [A0";
    for (int i = 1; i < 65; ++i)
        many.append(", A").append(std::to_string(i));
    check_added(many + "]" + end, {"3:17: trusted_fields: has more than 64 names"});
}

TEST_CASE("the PROXY protocol needs somebody to believe") {
    const std::string upstreams = "upstreams: {u: {endpoints: [127.0.0.1:1]}}\nroutes: []\n";
    check_mistakes(
        "listeners: [{address: 127.0.0.1:1, proxy_protocol: true}]\n" + upstreams,
        {"1:52: listeners[0].proxy_protocol: needs trusted_proxies"});
    check_mistakes(
        "listeners: [{address: 127.0.0.1:1, proxy_protocol: yes}]\n" + upstreams,
        {"1:52: \"yes\" is neither true nor false"});
    CHECK(loaded(
              "listeners: [{address: 127.0.0.1:1, proxy_protocol: true}]\n"
              "trusted_proxies: [unix]\n" +
              upstreams)
              .listeners.at(0)
              .proxy_protocol);
}

} // namespace stint::config
