// Where answers end, and what is between them: nothing of one is taken for another, or for whole.
#include "scripted.hpp"

#include <string>

using namespace stint::test;

TEST_CASE("what follows an answer without a body is never the next answer") {
    std::string_view request = get;
    std::string_view head;
    SUBCASE("HEAD with a length") {
        request = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n";
        head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
    }
    SUBCASE("HEAD with chunks") {
        request = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n";
        head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    }
    SUBCASE("HEAD without framing") {
        request = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n";
        head = "HTTP/1.1 200 OK\r\n\r\n";
    }
    SUBCASE("204") {
        head = "HTTP/1.1 204 No Content\r\n\r\n";
    }
    SUBCASE("204 with a length") {
        head = "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n";
    }
    SUBCASE("304 with a length") {
        head = "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n";
    }
    SUBCASE("304 with chunks") {
        head = "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n";
    }
    SUBCASE("a length of nothing") {
        head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    }
    const std::string response =
        std::string{head} + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    for (std::size_t cut = 0; cut < response.size(); ++cut) {
        CAPTURE(cut);
        Scripted scripted{request};
        scripted.answer(response, cut, false);
        const std::string seen = scripted.client.read_head();
        CHECK(seen.substr(9, 3) == head.substr(9, 3));
        CHECK_FALSE(has(seen, "Transfer-Encoding"));
        CHECK_FALSE((has(seen, "Content-Length") && seen.substr(9, 3) == "204"));
        CHECK(scripted.client.received().empty());

        scripted.client.send(get);
        scripted.upstream->wait_closed();
        Wire next = scripted.gateway.upstream.accept();
        next.read_head();
        next.send(ok);
        CHECK(read_response(scripted.client).ends_with("\r\n\r\nhi"));
    }
}

TEST_CASE("an answer that is cut short never ends cleanly, wherever it is cut") {
    std::string_view response;
    SUBCASE("of known length") {
        response = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalf";
    }
    SUBCASE("chunked") {
        response =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\nA: b\r\n\r\n";
    }
    const std::size_t head_size = response.find("\r\n\r\n") + 4;
    for (std::size_t cut = 0; cut < response.size(); ++cut)
        for (const bool reset : {false, true}) {
            CAPTURE(cut);
            CAPTURE(reset);
            Scripted scripted;
            scripted.upstream->send(response.substr(0, cut));
            scripted.gateway.settle();
            if (reset)
                scripted.upstream->reset();
            else
                scripted.upstream->close();
            if (cut < head_size) {
                CHECK(scripted.client.read_head().starts_with("HTTP/1.1 502 "));
                CHECK(scripted.gateway.ended(Outcome::upstream_failed, 5) == 1);
                continue;
            }
            const std::string seen = scripted.client.read_to_end();
            CHECK_FALSE(has(seen, "\r\n0\r\n")); // an id may end in 0
            CHECK_FALSE(seen.ends_with("\r\n\r\nhalf"));
            CHECK(scripted.gateway.ended(Outcome::upstream_failed, 2) == 1);
            CHECK(scripted.gateway.pooled() == 0);
        }
}

TEST_CASE("an answer that ends with its connection is cut where that is reset") {
    Scripted scripted;
    scripted.upstream->send("HTTP/1.1 200 OK\r\n\r\nhalf");
    scripted.client.read_until("4\r\nhalf\r\n");

    scripted.upstream->reset();

    CHECK(scripted.client.read_to_end().empty());
    CHECK(scripted.gateway.ended(Outcome::upstream_failed, 2) == 1);
}

TEST_CASE("an answer that is cut is reset also where the request is still coming") {
    Scripted scripted{"POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 100\r\n\r\nsome of it"};
    scripted.upstream->send("HTTP/1.1 200 OK\r\n\r\nhalf");
    scripted.client.read_until("half");

    scripted.upstream->reset();

    // To this client a clean end would be the answer's.
    scripted.gateway.run_until([&] { return scripted.client.closed(); });
    CHECK((scripted.client.was_reset() || over_tls()));
    CHECK(scripted.gateway.ended(Outcome::upstream_failed, 2) == 1);
}

TEST_CASE("what comes before the request on a fresh connection is no answer") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    gateway.loop().restart();
    while (!gateway.upstream.called())
        gateway.loop().poll_one();
    Wire upstream = gateway.upstream.accept();
    upstream.send_some("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");

    CHECK(client.read_head().starts_with("HTTP/1.1 502 "));
    client.read_until("}\n");
    upstream.wait_closed();
    CHECK(upstream.received().empty());
}

TEST_CASE("interim answers may be cut anywhere") {
    const std::string response =
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\nContent-Length: 3\r\n\r\n"
        "HTTP/1.1 102 Processing\r\n\r\n" +
        std::string{ok};
    for (std::size_t cut = 0; cut < response.size(); ++cut) {
        CAPTURE(cut);
        Scripted scripted;
        scripted.answer(response, cut, false);
        const std::string hints = scripted.client.read_head();
        CHECK(hints == "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n");
        CHECK(scripted.client.read_head().starts_with("HTTP/1.1 102 "));
        CHECK(read_response(scripted.client).ends_with("\r\n\r\nhi"));
        CHECK(scripted.gateway.pooled() == 1);
    }
}

TEST_CASE("each event of a stream goes out as it comes, its fields untouched") {
    Scripted scripted;
    scripted.upstream->send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                            "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string head = scripted.client.read_head();
    CHECK(has(head, "\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"));

    for (const std::string event : {"data: 1\n\n", "data: 2\n\n", "data: 3\n\n"}) {
        scripted.upstream->send("9\r\n" + event + "\r\n");
        CHECK(scripted.client.read_until(event + "\r\n") == "9\r\n" + event + "\r\n");
    }
    scripted.upstream->send("0\r\n\r\n");
    CHECK(scripted.client.read_until("0\r\n\r\n") == "0\r\n\r\n");
}

TEST_CASE("the context of a trace passes untouched") {
    Scripted scripted{"GET / HTTP/1.1\r\nHost: a\r\n\r\n"};
    scripted.answer(ok, 0, false);
    read_response(scripted.client);
    constexpr std::string_view trace =
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"
        "tracestate: rojo=00f067aa0ba902b7,congo=t61rcWkgMzE\r\n";

    scripted.client.send("GET / HTTP/1.1\r\nHost: a\r\n" + std::string{trace} + "\r\n");

    CHECK(has(scripted.upstream->read_head(), trace));
}
