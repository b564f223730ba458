// Clients of HTTP/2 that send too slowly, or close their sending side.
#include "http2_peers.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace stint;
using namespace stint::test;

namespace {

// No head of a test is fast enough, unless it comes whole.
constexpr std::string_view no_head_is = "min_rate: {head: 1GiB, body: off, after: 1ms}";

// The coarse clock, by which rates are measured, has gone on by more than `after` above.
void pass_a_moment() {
    const SteadyTime until = net::read_coarse_clock() + 10ms;
    while (net::read_coarse_clock() < until) {
    }
}

struct Begun {
    std::string_view what;
    std::string bytes; // the rest is to come
};

// What a client may begin and not end.
std::vector<Begun> begun() {
    const std::string head = request(1);
    return {
        {"a frame's head", head.substr(0, 3)},
        {"HEADERS", head.substr(0, 12)},
        {"HEADERS whose CONTINUATION is to come", frame(headers, end_stream, 1, get_fields)},
        {"CONTINUATION",
         frame(headers, end_stream, 1, get_fields.substr(0, 3)) +
             frame(continuation, end_headers, 1, get_fields.substr(3)).substr(0, 10)},
        {"SETTINGS", frame(settings, 0, 0, std::string_view{"\0\3\0\0\0\7", 6}).substr(0, 11)}};
}

// True if the gateway has told the client to calm down, and ended the connection.
bool ended_with_goaway(Wire& client) {
    const std::string all = client.read_to_end();
    const std::size_t at = all.find(std::string_view{"\0\0\x08\x07\0\0\0\0\0", 9});
    return at != std::string::npos && all.substr(at + 13, 4) == std::string_view{"\0\0\0\x0b", 4};
}

} // namespace

TEST_CASE("what comes too slowly ends the HTTP/2 connection, as a slow head ends that of HTTP/1") {
    for (const Begun& each : begun()) {
        CAPTURE(each.what);
        Http2 peers{with(no_head_is)};
        peers.client.send(each.bytes);
        peers.gateway.settle();
        pass_a_moment();
        CHECK(peers.gateway.context().counters.slow_heads == 0); // silence is for time-outs

        peers.client.send(std::string_view{"\0", 1});

        CHECK(ended_with_goaway(peers.client));
        CHECK(peers.gateway.context().counters.slow_heads == 1);
    }
}

TEST_CASE("DATA of a stream that has ended may not hold an idle connection open") {
    Http2 peers{with(no_head_is)};
    peers.client.send(request(1));
    Wire upstream = peers.gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    peers.client.read_until(frame(data, end_stream, 1, "hi"));
    peers.client.send(frame(data, 0, 1, "abc").substr(0, 10));
    peers.gateway.settle();
    pass_a_moment();

    peers.client.send("b");

    CHECK(ended_with_goaway(peers.client));
    CHECK(peers.gateway.context().counters.slow_heads == 1);
}

TEST_CASE("what does not come to its end in time ends the HTTP/2 connection") {
    for (const Begun& each : begun()) {
        CAPTURE(each.what);
        Http2 peers{with("timeouts: {head: 10s, idle: 1h}")};
        peers.client.send(each.bytes);
        peers.gateway.settle();
        peers.gateway.pass(9s);
        peers.client.send(std::string_view{"\0", 1}); // gains no time
        peers.gateway.settle();
        peers.gateway.pass(11s);

        CHECK(ended_with_goaway(peers.client));
        CHECK(peers.gateway.context().counters.slow_heads == 0);
    }
}

TEST_CASE("a request that is answered at once begins the idle time of an HTTP/2 connection anew") {
    Http2 peers{"timeouts: {idle: 10s}\n"
                "routes: [{name: all, match: {path: /}, respond: {body: hi}}]"};
    peers.gateway.settle();
    peers.gateway.pass(2s);
    peers.gateway.settle();
    REQUIRE(peers.gateway.context().parked.size() == 1);

    peers.client.send(request(1));
    peers.client.read_until(frame(data, end_stream, 1, "hi"));
    peers.gateway.settle();
    CHECK(peers.gateway.context().parked.empty());
    peers.gateway.pass(2s); // the first part of the idle time, before a connection is parked

    CHECK(peers.gateway.context().parked.size() == 1);
}

TEST_CASE("an idle HTTP/2 connection is parked again after a frame that is no request") {
    Http2 peers{with("timeouts: {idle: 10s}")};
    const std::string ping = frame(Type{6}, 0, 0, "01234567");
    peers.gateway.settle();
    for (int i = 0; i < 3; ++i) {
        peers.gateway.pass(2s);
        peers.gateway.settle();
        CHECK(peers.gateway.context().parked.size() == 1);
        peers.client.send(ping.substr(0, 10));
        peers.gateway.settle();
        peers.client.send(ping.substr(10));
        peers.gateway.settle();
        CHECK(peers.gateway.context().parked.empty());
    }

    peers.gateway.pass(11s);

    CHECK(has(peers.client.read_to_end(), std::string_view{"\0\0\x08\x07\0\0\0\0\0", 9}));
}

TEST_CASE("a frame that has begun when the idle time is over may come to its end, and no other") {
    Http2 peers{with("timeouts: {head: 20s, idle: 10s}")};
    const std::string head = request(1);
    peers.gateway.settle();
    peers.client.send(head.substr(0, 3));
    peers.gateway.settle();
    peers.gateway.pass(11s);
    std::string rest = head.substr(3);
    SUBCASE("a request is served, and begins the time anew") {
        peers.client.send(rest);
        Wire upstream = peers.gateway.upstream.accept();
        upstream.read_head();
        upstream.send(ok);
        peers.client.read_until(frame(data, end_stream, 1, "hi"));
        peers.gateway.settle();
        peers.gateway.pass(2s);
        peers.gateway.settle();
        CHECK(peers.gateway.context().parked.size() == 1);
        peers.gateway.pass(11s);
    }
    SUBCASE("another frame gains no more") {
        peers.client.send(frame(Type{0x55}, 0, 0, "abcdef").substr(3)); // of the same length
    }
    CHECK(has(peers.client.read_to_end(), std::string_view{"\0\0\x08\x07\0\0\0\0\0", 9}));
}

TEST_CASE("a client that answers no PING is told the last stream all the same") {
    Http2 peers{
        "timeouts: {head: 20s, idle: 1h}\n"
        "routes: [{name: all, match: {path: /}, respond: {body: hi}}]",
        false,
        {.max_requests = 1}};
    const std::string unknown = frame(Type{0x55}, 0, 0, "abcdef");
    std::string rest;
    SUBCASE("that is silent") {}
    SUBCASE("that has always begun another frame") {
        rest = unknown;
    }
    peers.client.send(request(1) + rest.substr(0, 3));
    peers.client.read_until(frame(data, end_stream, 1, "hi"));
    for (int i = 0; i < 3 && !rest.empty(); ++i) {
        peers.gateway.settle();
        peers.client.send(rest.substr(3) + rest.substr(0, 3));
    }

    peers.gateway.pass(2s);

    CHECK(has(peers.client.read_to_end(), std::string_view{"\0\0\x08\x07\0\0\0\0\0\0\0\0\1", 13}));
}

TEST_CASE("a preface that comes too slowly is answered as a slow head of HTTP/1") {
    InProcessGateway gateway{with(no_head_is), {.http2_prior_knowledge = true}};
    Wire client = gateway.connect();
    client.send("PRI * HT");
    gateway.settle();
    pass_a_moment();

    client.send("T");

    CHECK(client.read_to_end().starts_with("HTTP/1.1 408 "));
    CHECK(gateway.context().counters.slow_heads == 1);
}

TEST_CASE("heads of HTTP/2 that come whole, and bodies, are no slow heads") {
    Http2 peers{with(no_head_is)};
    peers.client.send(upload(1));
    Wire upstream = peers.gateway.upstream.accept();
    upstream.read_head();
    const std::string body = frame(data, end_stream, 1, "abc");
    peers.client.send(body.substr(0, 10));
    peers.gateway.settle();
    pass_a_moment();
    peers.client.send(body.substr(10));
    upstream.read_until("\r\n0\r\n\r\n");
    upstream.send(ok);
    peers.client.read_until(frame(data, end_stream, 1, "hi"));
    peers.gateway.settle();
    pass_a_moment();
    peers.client.send(request(3));
    upstream.read_head();
    upstream.send(ok);
    peers.client.read_until(frame(data, end_stream, 3, "hi"));
    CHECK(peers.gateway.context().counters.slow_heads == 0);
}

TEST_CASE("a client of HTTP/2 that has closed its sending side is gone, unless it may do so") {
    Http2 peers{plain};
    peers.client.send(request(1));
    Wire upstream = peers.gateway.upstream.accept();
    upstream.read_head();
    peers.client.shutdown_send();
    upstream.wait_closed();
}

TEST_CASE("with half_close: allow a client of HTTP/2 gets its responses, and then the end") {
    Http2 peers{plain, true};
    peers.client.send(request(1) + request(3));
    Wire first = peers.gateway.upstream.accept();
    Wire second = peers.gateway.upstream.accept();
    first.read_head();
    second.read_head();
    peers.client.shutdown_send();
    peers.gateway.settle();
    second.send(ok);
    peers.client.read_until(frame(data, end_stream, 3, "hi"));
    peers.gateway.settle();

    first.send(ok);

    CHECK(has(peers.client.read_to_end(), frame(data, end_stream, 1, "hi")));
    CHECK(peers.gateway.ended(Outcome::forwarded, 2) == 2);
    peers.gateway.run_until([&] { return peers.gateway.context().connections.empty(); });
}

TEST_CASE("with half_close: allow a request that waits for a limit is answered after the close") {
    Http2 peers{
        "limits: {slot: {concurrent: 1, when_exceeded: wait, max_wait: 1h}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [slot]}]",
        true};
    peers.client.send(request(1));
    Wire upstream = peers.gateway.upstream.accept();
    upstream.read_head();
    peers.client.send(request(3));
    peers.gateway.settle();
    CHECK(peers.gateway.limit("slot").waiting() == 1);
    peers.client.shutdown_send();
    peers.gateway.settle();

    upstream.send(ok);
    peers.client.read_until(frame(data, end_stream, 1, "hi"));
    peers.gateway.open();
    upstream.read_head();
    upstream.send(ok);

    CHECK(has(peers.client.read_to_end(), frame(data, end_stream, 3, "hi")));
}

TEST_CASE("with half_close: allow a request that is cut short ends, and no other") {
    Http2 peers{plain, true};
    peers.client.send(upload(1));
    Wire first = peers.gateway.upstream.accept();
    first.read_head();
    peers.client.send(request(3));
    Wire second = peers.gateway.upstream.accept();
    second.read_head();

    peers.client.shutdown_send();

    first.wait_closed();
    second.send(ok);
    CHECK(has(peers.client.read_to_end(), frame(data, end_stream, 3, "hi")));
}

TEST_CASE("with half_close: allow a client that resets its connection is gone") {
    Http2 peers{plain, true};
    peers.client.send(request(1));
    Wire upstream = peers.gateway.upstream.accept();
    upstream.read_head();
    peers.client.shutdown_send();
    peers.gateway.settle();

    peers.client.reset();

    upstream.wait_closed();
    peers.gateway.run_until([&] { return peers.gateway.context().connections.empty(); });
}

TEST_CASE("with half_close: allow a client without requests is closed at once") {
    Http2 peers{plain, true};
    peers.gateway.settle();
    peers.client.shutdown_send();
    peers.client.read_to_end();
    peers.gateway.run_until([&] { return peers.gateway.context().connections.empty(); });
}
