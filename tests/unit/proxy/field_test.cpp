#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

namespace {

// What the upstream sees of a request with these fields.
std::string seen(std::string_view yaml, std::string_view fields) {
    InProcessGateway gateway{yaml};
    Wire client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: a:1\r\n" + std::string{fields} + "\r\n");
    return gateway.upstream.accept().read_head();
}

} // namespace

TEST_CASE("no client names away, or imitates, what a limit is keyed by") {
    std::string limit;
    SUBCASE("key") {
        limit = "{requests: 9, per: 1h, key: [client_ip, header:X-Tenant]}";
    }
    SUBCASE("fair_by") {
        limit = "{requests: 9, per: 1h, when_exceeded: wait, fair_by: header:X-Tenant}";
    }
    SUBCASE("reserve_for") {
        limit = "{requests: 9, per: 1h, retry_after: reserve, reserve_for: header:X-Tenant}";
    }
    SUBCASE("cost") {
        limit = "{requests: 9, per: 1h, cost: header:X-Tenant}";
    }

    const std::string head = seen(
        "routes: [{name: all, upstream: origin, limits: [" + limit + "]}]",
        "Connection: X-Tenant, X-Gone\r\nX-Tenant: 1\r\nX_Tenant: 2\r\nX-Gone: 3\r\n");

    CHECK(has(head, "\r\nX-Tenant: 1\r\n"));
    CHECK_FALSE(has(head, "X_Tenant"));
    CHECK_FALSE(has(head, "X-Gone"));
}

TEST_CASE("no client names away, or imitates, what a pause is kept by, or who the client is") {
    const std::string by_key = seen(
        "routes: [{name: all, upstream: origin, cooldown: {scope: key, key: header:X-Tenant}}]",
        "Connection: X-Tenant\r\nX-Tenant: 1\r\nX_Tenant: 2\r\n");
    const std::string by_address = seen(
        "trusted_proxies: [127.0.0.1]\nclient_ip_header: X-Real-IP\n" + std::string{plain},
        "Connection: X-Real-IP\r\nX-Real-IP: 1.2.3.4\r\nX_Real_IP: 5.6.7.8\r\n");

    CHECK(has(by_key, "\r\nX-Tenant: 1\r\n"));
    CHECK_FALSE(has(by_key, "X_Tenant"));
    CHECK(has(by_address, "\r\nX-Real-IP: 1.2.3.4\r\n"));
    CHECK_FALSE(has(by_address, "X_Real_IP"));
}

TEST_CASE("Forwarded is written where the configuration says so") {
    CHECK_FALSE(has(seen(plain, "Forwarded: for=1.2.3.4\r\n"), "Forwarded: for="));
    CHECK(
        has(seen("forwarded: true\n" + std::string{plain}, "Forwarded: for=1.2.3.4\r\n"),
            "\r\nForwarded: for=127.0.0.1;host=\"a:1\";proto=http\r\n"));
    CHECK(
        has(seen(
                "forwarded: true\ntrusted_proxies: [127.0.0.1]\n" + std::string{plain},
                "Forwarded: for=1.2.3.4\r\n"),
            "\r\nForwarded: for=1.2.3.4, for=127.0.0.1;host=\"a:1\";proto=http\r\n"));
}
