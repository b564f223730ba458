// Who may switch protocols, and where the new one begins.
#include "tunnel.hpp"

using namespace stint::test;

TEST_CASE("an allowed protocol is offered, taken and then carried both ways") {
    Tunnel tunnel;
    CHECK(has(tunnel.head, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"));
    CHECK(has(tunnel.head, "\r\nSec-WebSocket-Key: x\r\n"));

    const std::string answer = tunnel.open();

    CHECK(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
    CHECK(has(answer, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"));
    CHECK(has(answer, "\r\nSec-WebSocket-Accept: y\r\n"));
    CHECK_FALSE(has(answer, "Content-Length"));
    tunnel.client.send("GET / HTTP/1.1\r\n\r\n\r\n\r\n");
    CHECK(tunnel.upstream.read_until("\r\n\r\n\r\n\r\n") == "GET / HTTP/1.1\r\n\r\n\r\n\r\n");
    tunnel.upstream.send(ok);
    CHECK(tunnel.client.read(ok.size()) == ok);
    tunnel.client.send("more");
    CHECK(tunnel.upstream.read(4) == "more");
    CHECK(tunnel.open_tunnels() == 1);
    CHECK(tunnel.gateway.context().counters.routes[1].in_flight == 1);
}

TEST_CASE("what an upstream sends with its 101 belongs to the tunnel, wherever it is cut") {
    const std::string answer = std::string{switching} + "HTTP/1.1 200 OK\r\n\r\nearly";
    for (std::size_t cut = 1; cut < answer.size(); ++cut) {
        CAPTURE(cut);
        Tunnel tunnel;
        tunnel.upstream.send(std::string_view{answer}.substr(0, cut));
        tunnel.gateway.settle();
        tunnel.upstream.send(std::string_view{answer}.substr(cut));

        CHECK(tunnel.client.read_head().starts_with("HTTP/1.1 101 "));
        CHECK(tunnel.client.read_until("early") == "HTTP/1.1 200 OK\r\n\r\nearly");
        tunnel.client.send("late");
        CHECK(tunnel.upstream.read(4) == "late");
    }
}

TEST_CASE("what a client sends with its request belongs to the tunnel, wherever it is cut") {
    const std::string request = std::string{offer} + "GET /smuggled HTTP/1.1\r\nHost: b\r\n\r\n";
    for (std::size_t cut = 1; cut < request.size(); ++cut) {
        CAPTURE(cut);
        InProcessGateway gateway{plain};
        Wire client = gateway.connect();
        client.send(std::string_view{request}.substr(0, cut));
        gateway.settle();
        client.send(std::string_view{request}.substr(cut));
        Wire upstream = gateway.upstream.accept();
        upstream.read_head();
        gateway.settle();
        CHECK(upstream.received().empty()); // not before the 101

        upstream.send(switching);

        client.read_head();
        CHECK(upstream.read_head() == "GET /smuggled HTTP/1.1\r\nHost: b\r\n\r\n");
        gateway.settle();
        CHECK_FALSE(gateway.upstream.called());
        upstream.send("answer");
        CHECK(client.read(6) == "answer");
    }
}

TEST_CASE("a client's early bytes are kept up to what the connection's buffer holds") {
    Tunnel tunnel{plain};
    const std::string early(60'000, 'e'); // more than there is room for
    const std::size_t sent = tunnel.client.send_some(early);
    tunnel.gateway.settle();

    tunnel.open();

    CHECK(tunnel.upstream.read(sent) == early.substr(0, sent));
}

TEST_CASE("101 for a protocol that was not offered is a 502 and ends the upstream's connection") {
    Tunnel tunnel{foo_too};
    std::string_view answer;
    SUBCASE("another one") {
        answer = "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n";
    }
    SUBCASE("none") {
        answer = "HTTP/1.1 101 X\r\nConnection: Upgrade\r\n\r\n";
    }
    SUBCASE("one too many") {
        answer = "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket, foo\r\n\r\n";
    }
    SUBCASE("another version") {
        answer = "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket/9\r\n\r\n";
    }
    SUBCASE("without the connection option") {
        answer = "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n";
    }
    SUBCASE("by HTTP/1.0") {
        answer = "HTTP/1.0 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    }

    CHECK(tunnel.open(answer).starts_with("HTTP/1.1 502 "));

    tunnel.upstream.wait_closed();
    CHECK(tunnel.gateway.pooled() == 0);
    CHECK(tunnel.open_tunnels() == 0);
}

TEST_CASE("an answer that does not switch is an ordinary one, and both connections go on") {
    Tunnel tunnel;
    SUBCASE("200") {
        tunnel.upstream.send(ok);
        CHECK(read_response(tunnel.client).ends_with("\r\n\r\nhi"));
    }
    SUBCASE("426") {
        tunnel.upstream.send(
            "HTTP/1.1 426 Upgrade Required\r\nUpgrade: foo\r\nContent-Length: 2\r\n\r\nno");
        CHECK(read_response(tunnel.client).starts_with("HTTP/1.1 426 "));
    }
    tunnel.gateway.settle();
    CHECK(tunnel.gateway.pooled() == 1);

    tunnel.client.send(get);
    CHECK_FALSE(has(tunnel.upstream.read_head(), "Upgrade"));
    tunnel.upstream.send(ok);
    CHECK(read_response(tunnel.client).ends_with("\r\n\r\nhi"));
    CHECK(tunnel.gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("bytes behind a request that was not switched are the next request") {
    Tunnel tunnel{plain, std::string{offer} + std::string{get}};

    tunnel.upstream.send(ok);

    CHECK(read_response(tunnel.client).ends_with("\r\n\r\nhi"));
    CHECK(tunnel.upstream.read_head().starts_with("GET / HTTP/1.1\r\n"));
}

TEST_CASE("an interim answer may come before the 101") {
    Tunnel tunnel;

    CHECK(tunnel.open("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n").starts_with("HTTP/1.1 103"));
    CHECK(tunnel.open().starts_with("HTTP/1.1 101 "));

    tunnel.upstream.send("x");
    CHECK(tunnel.client.read(1) == "x");
}

TEST_CASE("Upgrade is removed where it may not be passed on, and the request goes its way") {
    std::string_view yaml = plain;
    std::string_view request;
    SUBCASE("the route allows none") {
        yaml = "routes: [{name: all, match: {path: /}, upstream: origin, upgrade: off}]";
        request = offer;
    }
    SUBCASE("another protocol") {
        request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n";
    }
    SUBCASE("HTTP/2") {
        request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                  "Upgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n";
    }
    SUBCASE("HTTP/1.0") {
        request = "GET / HTTP/1.0\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    }
    SUBCASE("not nominated") {
        request = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n";
    }
    SUBCASE("a body") {
        request = "POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  "Content-Length: 2\r\n\r\nhi";
    }
    SUBCASE("a chunked body") {
        request = "POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    }

    Tunnel tunnel{yaml, request};

    CHECK_FALSE(has(tunnel.head, "\r\nUpgrade"));
    CHECK_FALSE(has(tunnel.head, "\r\nConnection"));
    CHECK_FALSE(has(tunnel.head, "HTTP2-Settings"));
    CHECK(tunnel.open(switching).starts_with("HTTP/1.1 502 "));
}

TEST_CASE("of several protocols the allowed ones are offered") {
    Tunnel tunnel{
        foo_too, "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, upgrade\r\n"
                 "Upgrade: h2c, FOO/2,bar\r\nUpgrade: , websocket, foo/2, websocket\r\n\r\n"};

    CHECK(has(tunnel.head, "\r\nConnection: Upgrade\r\nUpgrade: FOO/2, websocket\r\n"));
    const std::string answer =
        tunnel.open("HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: foo/2\r\n\r\n");
    CHECK(has(answer, "\r\nUpgrade: foo/2\r\n"));
}

TEST_CASE("a request that offers and dies on a pooled connection offers again") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);
    gateway.settle();
    client.send(offer);
    upstream.read_head();
    upstream.close();

    Wire fresh = gateway.upstream.accept();

    CHECK(has(fresh.read_head(), "\r\nUpgrade: websocket\r\n"));
    fresh.send(switching);
    CHECK(client.read_head().starts_with("HTTP/1.1 101 "));
}
