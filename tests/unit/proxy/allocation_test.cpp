// Once warm, a request costs no memory: neither one that is relayed nor one that is refused.
#include "allocations.hpp"
#include "fixture.hpp"
#include "limits/limit.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint::test;

constexpr int warm_up = 10; // rounds

// What the gateway allocates while it does all that it can; the test's own ends wait meanwhile.
std::size_t settle(InProcessGateway& gateway, int round) {
    if (round >= warm_up)
        return allocations_in([&] { gateway.settle(); });
    gateway.settle();
    return 0;
}

} // namespace

TEST_CASE("the counter counts") {
    CHECK(allocations_in([] { ::operator delete(::operator new(8)); }) == 1);
}

TEST_CASE("a warm GET over kept connections allocates nothing") {
    InProcessGateway gateway{
        "limits: {many: {requests: 1000000, per: 1h, key: client_ip}, slot: {concurrent: 10}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [many, slot]}]"};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        if (round > 0)
            client.send(get);
        warm += settle(gateway, round);
        upstream.read_head();
        upstream.send(ok);
        warm += settle(gateway, round);
        read_response(client);
    }

    CHECK(warm == 0);
    CHECK(gateway.to_upstream().connects == 1);
}

TEST_CASE("warm GETs on many connections at once allocate nothing either") {
    constexpr std::size_t many = 24; // more than any cache of blocks that Asio keeps
    InProcessGateway gateway{
        "limits: {many: {requests: 1000000, per: 1h, key: client_ip}, slots: {concurrent: 99}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [many, slots]}]"};
    std::vector<Wire> clients;
    std::vector<Wire> upstreams;
    for (std::size_t i = 0; i < many; ++i) {
        clients.push_back(gateway.connect());
        clients.back().send(get);
        upstreams.push_back(gateway.upstream.accept());
    }
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        for (Wire& client : clients)
            if (round > 0)
                client.send(get);
        warm += settle(gateway, round);
        for (Wire& upstream : upstreams) {
            upstream.read_head();
            upstream.send(ok);
        }
        warm += settle(gateway, round);
        for (Wire& client : clients)
            read_response(client);
    }

    CHECK(warm == 0);
}

TEST_CASE("a warm POST of 50 KB, and its answer of 64 KiB, allocate nothing") {
    InProcessGateway gateway{
        "limits: {many: {requests: 1000000, per: 1h, key: client_ip}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [many]}]"};
    const std::string request =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + std::string(50'000, 'x');
    const std::string answer =
        "HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n" + std::string(65'536, 'y');
    Wire client = gateway.connect();
    client.send(request);
    Wire upstream = gateway.upstream.accept();
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        if (round > 0)
            client.send(request);
        warm += settle(gateway, round);
        upstream.read_head();
        upstream.read(50'000);
        upstream.send(answer);
        warm += settle(gateway, round);
        read_response(client, 65'536);
    }

    CHECK(warm == 0);
    CHECK(gateway.to_upstream().connects == 1);
}

TEST_CASE("a warm 429 allocates nothing") {
    InProcessGateway gateway{
        "limits: {budget: {requests: 1, per: 1h, key: client_ip}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget]}]"};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        client.send(get);
        warm += settle(gateway, round);
        CHECK(client.read_until("}\n").starts_with("HTTP/1.1 429 "));
    }

    CHECK(warm == 0);
}

TEST_CASE(
    "a warm 429 by a window with a key allocates nothing, beside a cap and with all its fields") {
    InProcessGateway gateway{
        "limits: {budget: {requests: 1, per: 1h, key: 'header:X-Api-Key', headers: draft},"
        " slots: {concurrent: 10, headers: draft}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget, slots]}]"};
    constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nX-Api-Key: a "
                                         "key that is in no small buffer\r\n\r\n";
    Wire client = gateway.connect();
    client.send(request);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        client.send(request);
        warm += settle(gateway, round);
        const std::string refusal = client.read_until("}\n");
        CHECK(refusal.starts_with("HTTP/1.1 429 "));
        CHECK(refusal.find("RateLimit: \"budget\"") != std::string::npos);
    }

    CHECK(warm == 0);
}

TEST_CASE(
    "a warm 429 by as many limits as a route may have allocates only its two lists of limits") {
    std::string limits;
    std::string names;
    for (std::size_t i = 0; i < stint::limits::max_charges; ++i) {
        const std::string name = "number_" + std::to_string(i);
        limits += (i == 0 ? "" : ", ") + name + ": {requests: 1, per: 1h, headers: draft}";
        names += (i == 0 ? "" : ", ") + name;
    }
    InProcessGateway gateway{
        "limits: {" + limits + "}\n" +
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [" + names + "]}]"};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        client.send(get);
        warm += settle(gateway, round);
        const std::string refusal = client.read_until("}\n");
        CHECK(refusal.starts_with("HTTP/1.1 429 "));
        CHECK(refusal.find("\"number_15\"") != std::string::npos);
    }

    CHECK(warm <= 2 * 20);
}

TEST_CASE("a warm 429 by a cap allocates nothing") {
    InProcessGateway gateway{
        "limits: {many: {requests: 1000000, per: 1h, key: client_ip}, slot: {concurrent: 1}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [many, slot]}]"};
    Wire holder = gateway.connect();
    holder.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head(); // and does not answer
    Wire client = gateway.connect();
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        client.send(get);
        warm += settle(gateway, round);
        CHECK(client.read_until("}\n").starts_with("HTTP/1.1 429 "));
    }

    CHECK(warm == 0);
}

TEST_CASE("a warm answer that stands in the configuration allocates nothing") {
    InProcessGateway gateway{
        "limits: {many: {requests: 1000000, per: 1h, key: client_ip}}\n"
        "routes: [{name: all, limits: [many], respond: {body: 'hello {client_ip} of {host}',"
        " headers: {X-A: '{request_id}'}}},"
        " {name: old, match: {path: /old}, redirect: 'https://{host}{path}{?query}'}]"};
    Wire client = gateway.connect();
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        client.send("GET / HTTP/1.1\r\nHost: A.example:80\r\n\r\n");
        warm += settle(gateway, round);
        read_response(client, 28);
        client.send("GET /old/a/../b?c HTTP/1.1\r\nHost: a\r\n\r\n");
        warm += settle(gateway, round);
        read_response(client, 0);
    }

    CHECK(warm == 0);
    CHECK(gateway.ended(Outcome::responded, 2) == 20);
}

TEST_CASE("a warm GET that is shaped allocates nothing either") {
    InProcessGateway gateway{
        "routes: [{name: all, match: {path: /api}, upstream: origin, strip_prefix: /api,"
        " request: {set_headers: {X-A: '{client_ip}'}, remove_headers: [Cookie]},"
        " response: {set_headers: {X-B: '{host}'}, remove_headers: [Server]}}]"};
    constexpr std::string_view request =
        "GET /api/a HTTP/1.1\r\nHost: a\r\nCookie: b\r\nAccept: */*\r\n\r\n";
    Wire client = gateway.connect();
    client.send(request);
    Wire upstream = gateway.upstream.accept();
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        if (round > 0)
            client.send(request);
        warm += settle(gateway, round);
        upstream.read_head();
        upstream.send("HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 2\r\n\r\nhi");
        warm += settle(gateway, round);
        read_response(client);
    }

    CHECK(warm == 0);
}
