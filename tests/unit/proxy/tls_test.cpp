// What TLS adds to connections: records in parts, ends that are said and ends that are not, and
// peers that do not speak it. (unit.proxy_tls plays the cases of other files over TLS.)
#include "sealed.hpp"
#include "tunnel.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

using namespace stint::test;

namespace {

// Both ends of a tunnel.
struct SealedTunnel {
    SealedTunnel() {
        client.send(offer);
        upstream = SealedWire::upstream(gateway);
        upstream->read_head();
        upstream->send(switching);
        client.read_head();
    }

    SealedGateway gateway;
    SealedWire client = SealedWire::client(gateway);
    std::optional<SealedWire> upstream;
};

// As settle(), but an event loop that never comes to rest fails the test.
void come_to_rest(InProcessGateway& gateway) {
    gateway.loop().restart();
    for (int turns = 0; gateway.loop().poll_one() > 0; ++turns)
        REQUIRE(turns < 1000);
}

// From one end of it to the other, once in each direction.
std::pair<SealedWire*, SealedWire*> either_way(SealedTunnel& tunnel) {
    bool up = true;
    SUBCASE("from the client") {}
    SUBCASE("from the upstream") {
        up = false;
    }
    SealedWire* const client = &tunnel.client;
    SealedWire* const upstream = &*tunnel.upstream;
    return up ? std::pair{client, upstream} : std::pair{upstream, client};
}

} // namespace

TEST_CASE("a part of a record in a tunnel keeps nobody busy, and goes on with the rest") {
    SealedTunnel tunnel;
    const auto [from, to] = either_way(tunnel);
    SealedWire other = SealedWire::client(tunnel.gateway);
    other.send(get);
    SealedWire others_upstream = SealedWire::upstream(tunnel.gateway);
    std::string record = from->end.seal("whole");
    for (std::size_t cut = 1; cut < record.size(); ++cut) {
        CAPTURE(cut);
        from->wire.send(record.substr(0, cut));
        come_to_rest(tunnel.gateway);

        others_upstream.read_head();
        others_upstream.send(ok);
        CHECK(other.read_until("hi").starts_with("HTTP/1.1 200 "));
        to->take();
        CHECK(to->end.text.empty());

        from->wire.send(record.substr(cut));
        CHECK(to->read_until("whole") == "whole");
        record = from->end.seal("whole");
        other.send(get);
    }
}

TEST_CASE("an end that arrives together with the last bytes of a tunnel follows them") {
    SealedTunnel tunnel;
    const auto [from, to] = either_way(tunnel);
    const std::string last = from->end.seal("last words");

    from->wire.send(last + from->end.seal_end()); // the socket stays open

    CHECK(to->read_until("last words") == "last words");
    to->until([&] { return to->end.ended(); });
    to->send("an answer");
    CHECK(from->read_until("an answer") == "an answer");
}

TEST_CASE("an end that arrives together with the last bytes of an answer makes it whole") {
    SealedGateway gateway;
    SealedWire client = SealedWire::client(gateway);
    client.send(get);
    SealedWire upstream = SealedWire::upstream(gateway);
    upstream.read_head();
    std::string bytes = "HTTP/1.1 200 OK\r\n\r\n";
    SUBCASE("head and all") {}
    SUBCASE("the head has gone before") {
        upstream.send(std::exchange(bytes, {}));
        client.read_until("Transfer-Encoding: chunked\r\n");
    }
    const std::string last = upstream.end.seal(bytes + "all of it");

    upstream.wire.send(last + upstream.end.seal_end()); // the socket stays open

    CHECK(has(client.read_until("\r\n0\r\n\r\n"), "all of it"));
    gateway.run_until([&] { return gateway.ended(Outcome::forwarded, 2) == 1; });
    CHECK(gateway.pooled() == 0);
    client.send(get);
    SealedWire next = SealedWire::upstream(gateway);
    next.read_head();
    next.send(ok);
    CHECK(client.read_until("hi").starts_with("HTTP/1.1 200 "));
}

TEST_CASE("an answer that ends without TLS's own end is not passed off as whole") {
    SealedGateway gateway;
    SealedWire client = SealedWire::client(gateway);
    std::string_view request = get;
    SUBCASE("in chunks") {}
    SUBCASE("as long as the connection") {
        request = "GET / HTTP/1.0\r\nHost: a\r\n\r\n";
    }
    client.send(request);
    SealedWire upstream = SealedWire::upstream(gateway);
    upstream.read_head();
    upstream.send("HTTP/1.1 200 OK\r\n\r\nhalf, maybe");
    client.read_until("half, maybe");

    upstream.wire.close(); // says nothing within TLS

    client.wait_closed();
    CHECK_FALSE(has(client.end.text, "\r\n0\r\n\r\n"));
    CHECK_FALSE(client.end.ended());
    CHECK(gateway.ended(Outcome::upstream_failed, 2) == 1);
    CHECK(gateway.ended(Outcome::forwarded, 2) == 0);
}

TEST_CASE("an upstream that stalls in its handshake is a 504 that says so") {
    SealedGateway gateway{one_at_a_time};
    SealedWire client = SealedWire::client(gateway);
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    SUBCASE("from the beginning") {}
    SUBCASE("in the middle of what it says") {
        gateway.run_until([&] { return !upstream.received().empty(); });
        SealedEnd end{tls_server()->accept()};
        const std::string said = end.take(upstream.received());
        REQUIRE_FALSE(said.empty());
        upstream.send(said.substr(0, said.size() / 2));
    }
    gateway.settle();

    gateway.pass(3s); // more than timeouts.connect

    const std::string answer = client.read_until("}\n");
    CHECK(answer.starts_with("HTTP/1.1 504 "));
    CHECK_FALSE(has(answer, gateway.upstream.text()));
    upstream.wait_closed();
    CHECK(gateway.ended(Outcome::upstream_failed, 5) == 1);
    CHECK(gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("an upstream that speaks plain text is a 502, and is told nothing in it") {
    SealedGateway gateway{one_at_a_time};
    SealedWire client = SealedWire::client(gateway);
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    std::string_view words;
    SUBCASE("an answer of HTTP") {
        words = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    }
    SUBCASE("no more than its first letter") {
        words = "H";
    }
    SUBCASE("another protocol") {
        words = "220 mail.example ESMTP\r\n";
    }

    upstream.send(words);

    const std::string answer = client.read_until("}\n");
    CHECK(answer.starts_with("HTTP/1.1 502 "));
    CHECK_FALSE(has(answer, gateway.upstream.text()));
    upstream.wait_closed();
    CHECK_FALSE(has(upstream.received(), "HTTP/1.1\r\n"));
    CHECK(gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a request in plain HTTP is answered once, wherever it is cut") {
    constexpr std::string_view request = "OPTIONS /a HTTP/1.1\r\nHost: a\r\n\r\n";
    for (std::size_t cut = 1; cut <= request.size(); ++cut) {
        CAPTURE(cut);
        SealedGateway gateway;
        Wire client = gateway.connect();
        client.send(request.substr(0, cut));
        gateway.settle();
        client.send(request.substr(cut));

        const std::string answer = client.read_to_end();

        CHECK(answer.starts_with("HTTP/1.1 400 "));
        CHECK(has(answer, "this listener speaks TLS: use https"));
        CHECK(answer.find("HTTP/1.1", 1) == std::string::npos);
        CHECK(gateway.context().counters.tls_failures == 1);
        CHECK(gateway.context().counters.tls_plain_http == 1);
    }
}

TEST_CASE("what is neither TLS nor begins as a request does is closed without an answer") {
    SealedGateway gateway;
    Wire client = gateway.connect();
    SUBCASE("another protocol") {
        client.send("220 mail.example ESMTP\r\n");
    }
    SUBCASE("an empty line, and a request") {
        client.send("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    SUBCASE("bytes") {
        client.send("\x80\xC1\xFE\x80\xC1\xFE\x80\xC1\xFE");
    }

    CHECK(client.read_to_end().empty());
    CHECK(gateway.context().counters.tls_failures == 1);
    CHECK(gateway.context().counters.tls_plain_http == 0);
}
