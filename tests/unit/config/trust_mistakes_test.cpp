// Trusted proxies, and mistakes in them.
#include "config_support.hpp"

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
        {"3:18: trusted_proxies: found a value; expected a list of networks"});
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
