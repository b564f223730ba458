#include "fixture.hpp"
#include "server/http1_connection.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdlib.h>

using namespace stint::test;

namespace {

struct Exchange {
    explicit Exchange(std::string_view yaml = one_at_a_time) : gateway{yaml} {
        client.send(get);
        upstream = gateway.upstream.accept();
        upstream.read_head();
    }

    InProcessGateway gateway;
    Wire client = gateway.connect();
    Wire upstream{gateway.loop(), {}};
};

} // namespace

TEST_CASE("an upstream that does not answer in time is a 504 and the client's connection goes on") {
    Exchange exchange;

    exchange.gateway.pass(61s);

    CHECK(exchange.client.read_head().starts_with("HTTP/1.1 504 "));
    exchange.client.read_until("}\n");
    exchange.upstream.wait_closed();
    exchange.gateway.settle();
    CHECK(exchange.gateway.limit("slot").in_flight() == 0);
    CHECK(exchange.gateway.ended(Outcome::upstream_failed, 5) == 1);

    exchange.client.send(get);
    Wire next = exchange.gateway.upstream.accept();
    next.read_head();
    next.send(ok);
    CHECK(read_response(exchange.client).ends_with("hi"));
}

TEST_CASE("an upstream that takes no more of a body, and does not answer either, is a 504") {
    if (over_tls()) // only of a Unix socket the sending side alone can be broken
        return;
    const TempFolder folder;
    InProcessGateway gateway{
        one_at_a_time, InProcessGateway::UnixUpstream{folder.path() / "upstream"}};
    Wire client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nbegin");
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("begin");

    upstream.shutdown_receive();
    client.send("more");
    gateway.settle();
    CHECK(client.received().empty()); // it may have answered before: that is waited for
    CHECK(gateway.limit("slot").in_flight() == 1);

    SUBCASE("in time") {
        gateway.pass(61s);
        CHECK(client.read_head().starts_with("HTTP/1.1 504 "));
        CHECK(gateway.ended(Outcome::upstream_failed, 5) == 1);
    }
    SUBCASE("unless its client leaves before") {
        client.close();
        gateway.run_until([&] { return gateway.ended(Outcome::client_gone, 0) == 1; });
        CHECK(gateway.limit("slot").in_flight() == 0);
    }
    upstream.wait_closed();
    gateway.settle();
    CHECK(gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("the time for an answer does not end while it is on its way") {
    Exchange exchange;
    exchange.upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh");
    exchange.client.read_head();
    REQUIRE(exchange.client.read(1) == "h");

    exchange.gateway.pass(29s); // less than body_idle
    exchange.upstream.send("i");

    CHECK(exchange.client.read(1) == "i");
}

TEST_CASE("an upstream that stalls in the middle of its response is cut, and so is the client") {
    Exchange exchange;
    exchange.upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf");
    exchange.client.read_until("half");

    exchange.gateway.pass(31s);

    CHECK(exchange.client.read_to_end().empty());
    exchange.upstream.wait_closed();
    CHECK(exchange.gateway.ended(Outcome::upstream_failed, 2) == 1);
    CHECK(exchange.gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a response that is cut short is never taken for a whole one") {
    Exchange exchange;
    std::string_view response;
    SUBCASE("of known length") {
        response = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
    }
    SUBCASE("chunked") {
        response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n";
    }
    exchange.upstream.send(response);
    std::string seen = exchange.client.read_until("half");

    exchange.upstream.close();

    seen += exchange.client.read_to_end();
    CHECK_FALSE(seen.ends_with("0\r\n\r\n"));
    CHECK(exchange.gateway.ended(Outcome::upstream_failed, 2) == 1);
    CHECK(exchange.gateway.pooled() == 0);
}

TEST_CASE("bytes behind a response end the upstream's connection, not the client's") {
    Exchange exchange;

    exchange.upstream.send(std::string{ok} + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");

    CHECK(read_response(exchange.client).ends_with("\r\n\r\nhi"));
    exchange.upstream.wait_closed();
    CHECK(exchange.gateway.pooled() == 0);
    exchange.client.send(get);
    Wire next = exchange.gateway.upstream.accept();
    next.read_head();
    next.send(ok);
    CHECK(read_response(exchange.client).ends_with("\r\n\r\nhi"));
}

TEST_CASE("bytes behind a response that came in pieces end the upstream's connection") {
    Exchange exchange;
    exchange.upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
    exchange.client.read_head();

    exchange.upstream.send("hi, and more");

    CHECK(exchange.client.read(2) == "hi");
    exchange.upstream.wait_closed();
    CHECK(exchange.gateway.pooled() == 0);
    CHECK(exchange.client.received().empty());
}

TEST_CASE("a response that cannot be understood is a 502") {
    Exchange exchange;
    std::string_view response;
    SUBCASE("not HTTP") {
        response = "SSH-2.0-OpenSSH_9.2p1\r\n\r\n";
    }
    SUBCASE("two lengths") {
        response = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx";
    }
    SUBCASE("a bad chunk") {
        response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    }
    SUBCASE("nothing but the end") {
        response = "";
    }

    exchange.upstream.send(response);
    exchange.upstream.close();

    CHECK(exchange.client.read_head().starts_with("HTTP/1.1 502 "));
    exchange.client.read_until("}\n");
    CHECK_FALSE(exchange.client.closed());
    CHECK(exchange.gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a response head larger than max_head is a 502") {
    Exchange exchange{"max_head: 1KiB\n" + std::string{plain}};

    exchange.upstream.send("HTTP/1.1 200 OK\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");

    CHECK(exchange.client.read_head().starts_with("HTTP/1.1 502 "));
    exchange.upstream.wait_closed();
}

TEST_CASE("clients are not told where the upstream is") {
    const auto told = [](InProcessGateway& gateway, Wire& client) {
        const std::string head = client.read_head();
        const std::string body = client.read_until("}\n");
        CHECK(has(head, "\r\nX-Request-Id: "));
        CHECK(has(body, "X-Request-Id"));
        for (const std::string& text : {head, body}) {
            CHECK_FALSE(has(text, gateway.upstream.text()));
            CHECK_FALSE(has(text, "127.0.0.1"));
            CHECK_FALSE(has(text, "origin"));
        }
        return head.substr(0, 13);
    };
    SUBCASE("that answers what is not HTTP") {
        Exchange exchange;
        exchange.upstream.send("hello\r\n\r\n");
        CHECK(told(exchange.gateway, exchange.client) == "HTTP/1.1 502 ");
    }
    SUBCASE("that closes") {
        Exchange exchange;
        exchange.upstream.close();
        CHECK(told(exchange.gateway, exchange.client) == "HTTP/1.1 502 ");
    }
    SUBCASE("that does not answer") {
        Exchange exchange;
        exchange.gateway.pass(61s);
        CHECK(told(exchange.gateway, exchange.client) == "HTTP/1.1 504 ");
    }
    SUBCASE("that sends too long a head") {
        Exchange exchange{"max_head: 1KiB\n" + std::string{plain}};
        exchange.upstream.send("HTTP/1.1 200 OK\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");
        CHECK(told(exchange.gateway, exchange.client) == "HTTP/1.1 502 ");
    }
    SUBCASE("that switches protocols unasked") {
        Exchange exchange;
        exchange.upstream.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n");
        CHECK(told(exchange.gateway, exchange.client) == "HTTP/1.1 502 ");
    }
    SUBCASE("that refuses connections") {
        InProcessGateway gateway{plain};
        gateway.upstream.close();
        Wire client = gateway.connect();
        client.send(get);
        CHECK(told(gateway, client) == "HTTP/1.1 502 ");
    }
    SUBCASE("that is down") {
        InProcessGateway gateway{plain};
        gateway.endpoint(0).drain();
        Wire client = gateway.connect();
        client.send(get);
        CHECK(told(gateway, client) == "HTTP/1.1 503 ");
    }
}

TEST_CASE("an upstream that refuses connections is a 502 and the connection goes on") {
    InProcessGateway gateway{one_at_a_time};
    gateway.upstream.close();
    Wire client = gateway.connect();

    for (int i = 0; i < 2; ++i) {
        client.send(get);
        CHECK(client.read_head().starts_with("HTTP/1.1 502 "));
        client.read_until("}\n");
    }

    CHECK(gateway.to_upstream().connect_failures == 2);
    CHECK(gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a draining worker tells its clients and closes behind the response") {
    Exchange exchange;
    exchange.gateway.context().draining = true;
    for (auto& connection : exchange.gateway.context().connections)
        connection.drain();

    exchange.upstream.send(ok);

    const std::string response = exchange.client.read_to_end();
    CHECK(has(response, "\r\nConnection: close\r\n"));
    CHECK(response.ends_with("hi"));
    exchange.gateway.settle();
    CHECK(exchange.gateway.context().connections.empty());
}
