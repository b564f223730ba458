// Mistakes in upstreams.
#include "config_support.hpp"

namespace stint::config {

namespace {

void check_endpoint(
    std::string_view endpoint,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_mistakes(
        "routes: []\nlisteners: [{address: 1.1.1.1:1}]\nupstreams: {a: {endpoints: [" +
            std::string{endpoint} + "]}}\n",
        expected, at);
}

} // namespace

TEST_CASE("endpoints are addresses, names, URLs without a path, or sockets") {
    for (const char* endpoint :
         {"1.2.3.4:80", "\"[::1]:80\"", "shop:80", "shop_1.internal:80", "\"http://shop\"",
          "\"http://shop:81/\"", "\"http://[::1]\"", "\"HTTP://1.2.3.4\"", "unix:/run/shop",
          "https://shop", "\"https://shop:8443/\"", "\"HTTPS://[::1]\""})
        check_endpoint(endpoint, {});
}

TEST_CASE("an endpoint that cannot be connected to is a mistake") {
    check_endpoint("", {"3:28: upstreams.a.endpoints: is empty; expected at least one endpoint"});
    check_endpoint("https://shop:0", {"3:29: expected a port from 1 to 65535"});
    check_endpoint("https://", {"3:29: is not an endpoint"});
    check_endpoint("https://shop/api", {"3:29: has a path or an unknown scheme"});
    check_endpoint("shop", {"3:29: \"shop\" has no port; expected IPv4:port"});
    check_endpoint("shop:0", {"3:29: expected a port from 1 to 65535"});
    check_endpoint("shop:http", {"3:29: has no valid port"});
    check_endpoint("\"shop:\"", {"3:29: has no valid port"});
    check_endpoint("1.2.3.400:80", {"3:29: \"1.2.3.400:80\" is not an endpoint"});
    check_endpoint("\"::1:80\"", {"3:29: is not an endpoint; expected IPv4:port, \"[IPv6]:port\""});
    check_endpoint("-shop:80", {"3:29: is not an endpoint"});
    check_endpoint("a..b:80", {"3:29: is not an endpoint"});
    check_endpoint("user@shop:80", {"3:29: is not an endpoint"});
    check_endpoint("http://shop/api", {"3:29: has a path or an unknown scheme"});
    check_endpoint("ftp://shop", {"3:29: has a path or an unknown scheme"});
    check_endpoint("\"unix:\"", {"3:29: has no absolute path"});
    check_endpoint("[a]", {"3:29: found a list; expected an endpoint such as 127.0.0.1:9000"});
}

TEST_CASE("an endpoint stands in a list once, however it is spelt") {
    check_endpoint(
        "1.1.1.1:80, \"http://1.1.1.1\"",
        {"3:41: upstreams.a.endpoints[1]: \"http://1.1.1.1\" is listed already"});
}

TEST_CASE("an upstream needs a name and endpoints, and knows its keys") {
    check_mistakes(
        "routes: []\n"
        "listeners: [{address: 1.1.1.1:1}]\n"
        "upstreams:\n"
        "  a: {}\n"
        "  a/b: {endpoints: [b:1]}\n"
        "  b: {endpoint: [b:1], host: \"b:0\"}\n"
        "  c: [c:1]\n"
        "  d: {endpoints: [d:1], timeouts: {head: 1s}}\n",
        {"4:6: upstreams.a: endpoints is missing; expected a list such as [127.0.0.1:9000]",
         "5:3: \"a/b\" is not a name; expected 1 to 64 of the characters",
         "6:7: upstreams.b.endpoint: unknown key; did you mean \"endpoints\"?",
         "6:30: upstreams.b.host: \"b:0\" is not a host; expected HOST or HOST:port",
         "7:6: upstreams.c: found a list; expected a map such as {endpoints:",
         "8:36: upstreams.d.timeouts.head: unknown key; expected body_idle, connect, response "
         "or tunnel_idle"});
}

} // namespace stint::config
