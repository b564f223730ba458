#include "http2_peers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace stint;
using namespace stint::test;

TEST_CASE("requests of one HTTP/2 connection go to the upstream at the same time") {
    Http2 peers{plain};
    peers.client.send(request(1) + request(3));
    Wire first = peers.gateway.upstream.accept();
    Wire second = peers.gateway.upstream.accept();
    CHECK(has(first.read_head(), "Via: 2.0 stint\r\n"));
    second.read_head();

    second.send(ok);
    peers.client.read_until(frame(data, end_stream, 3, "hi"));
    first.send(ok);
    peers.client.read_until(frame(data, end_stream, 1, "hi"));
}

TEST_CASE("a reset ends the request at the upstream and frees its slot") {
    Http2 peers{one_at_a_time};
    peers.client.send(request(1));
    Wire upstream = peers.gateway.upstream.accept();
    upstream.read_head();
    peers.client.send(frame(rst_stream, 0, 1, std::string_view{"\0\0\0\x8", 4}));
    upstream.wait_closed();

    peers.client.send(request(3));
    Wire next = peers.gateway.upstream.accept();
    next.read_head();
    next.send(ok);
    peers.client.read_until(frame(data, end_stream, 3, "hi"));
}

TEST_CASE("what streams held that are reset is free for those that come in the same bytes") {
    constexpr int bound = 10;
    bool resets_first = true;
    std::string_view yaml =
        "limits: {slot: {concurrent: 10}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [slot]}]";
    SUBCASE("slots of a limit") {}
    SUBCASE("slots of a limit, and the heads come first") {
        resets_first = false;
    }
    SUBCASE("places among the requests in flight") {
        yaml = "max_requests_in_flight: 10\n"
               "routes: [{name: all, match: {path: /}, upstream: origin}]";
    }
    Http2 peers{yaml};
    std::string begun;
    std::string resets;
    std::string heads;
    for (int i = 0; i < bound; ++i) {
        begun += request(1 + 2 * i);
        resets += frame(rst_stream, 0, 1 + 2 * i, std::string_view{"\0\0\0\x8", 4});
        heads += request(1 + 2 * (bound + i));
    }
    peers.client.send(begun);
    std::vector<Wire> first;
    for (int i = 0; i < bound; ++i)
        first.push_back(peers.gateway.upstream.accept());

    peers.client.send(resets_first ? resets + heads : heads + resets);

    std::vector<Wire> second;
    for (int i = 0; i < bound; ++i)
        second.push_back(peers.gateway.upstream.accept());
    for (Wire& each : first)
        each.wait_closed();
    for (Wire& each : second) {
        each.read_head();
        each.send(ok);
    }
    peers.gateway.run_until([&] { return peers.gateway.ended(Outcome::forwarded, 2) == bound; });
    CHECK(peers.gateway.ended(Outcome::client_gone, 0) == bound);
}

TEST_CASE("a closed HTTP/2 connection ends all its requests") {
    Http2 peers{plain};
    peers.client.send(request(1) + request(3));
    Wire first = peers.gateway.upstream.accept();
    Wire second = peers.gateway.upstream.accept();
    first.read_head();
    second.read_head();
    peers.client.close();
    first.wait_closed();
    second.wait_closed();
}

TEST_CASE("a request that was reset in the bytes that brought it reaches no upstream") {
    Http2 peers{plain};
    peers.client.send(
        request(1) + frame(rst_stream, 0, 1, std::string_view{"\0\0\0\x8", 4}) + request(3));
    Wire upstream = peers.gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    peers.client.read_until(frame(data, end_stream, 3, "hi"));
    CHECK_FALSE(peers.gateway.upstream.called());
}

TEST_CASE("a response's head of max_head reaches a client of HTTP/2") {
    Http2 peers{with("max_head: 64KiB")};
    peers.client.send(request(1));
    Wire upstream = peers.gateway.upstream.accept();
    upstream.read_head();
    std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
    for (int i = 0; i < 64; ++i) // no value that Huffman's code makes shorter
        head += "X-" + std::to_string(i) + ": " + std::string(1000, '\xa0') + "\r\n";
    head += "X: " + std::string(64 * 1024 - 7 - head.size(), '\xa0') + "\r\n\r\n";
    REQUIRE(head.size() == 64 * 1024);
    upstream.send(head + "hi");

    peers.client.read_until(frame(data, end_stream, 1, "hi"));
}

TEST_CASE("HTTP/1 is served where a client may begin with HTTP/2") {
    InProcessGateway gateway{plain, {.http2_prior_knowledge = true}};
    Wire client = gateway.connect();
    client.send("P"); // the preface begins so, too
    gateway.settle();
    client.send("UT / HTTP/1.1\r\nHost: a\r\n\r\n");
    Wire upstream = gateway.upstream.accept();
    CHECK(upstream.read_head().starts_with("PUT / HTTP/1.1\r\n"));
    upstream.send(ok);
    CHECK(read_response(client).starts_with("HTTP/1.1 200 OK\r\n"));
}
