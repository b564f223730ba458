#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

TEST_CASE("two requests of one client go over one connection to the upstream") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    CHECK(read_response(client).ends_with("\r\n\r\nhi"));

    client.send(get);

    upstream.read_head();
    upstream.send(ok);
    CHECK(read_response(client).starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK_FALSE(gateway.upstream.called());
    CHECK(gateway.to_upstream().connects == 1);
    CHECK(gateway.to_upstream().reused == 1);
}

TEST_CASE("two clients share the pooled connections") {
    InProcessGateway gateway{plain};
    Wire first = gateway.connect();
    first.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(first);

    Wire second = gateway.connect();
    second.send(get);
    upstream.read_head();
    upstream.send(ok);

    CHECK(read_response(second).ends_with("hi"));
    CHECK(gateway.to_upstream().connects == 1);
}

TEST_CASE("pipelined requests are forwarded one by one and answered in order") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\n"
                "Content-Length: 4\r\n\r\nbodyGET /3 HTTP/1.1\r\nHost: a\r\n\r\n");
    Wire upstream = gateway.upstream.accept();
    CHECK(upstream.read_head().starts_with("GET /1 "));
    gateway.settle();
    CHECK(upstream.received().empty()); // the second waits for its turn

    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1");
    CHECK(upstream.read_head().starts_with("POST /2 "));
    CHECK(upstream.read(4) == "body");
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2");
    CHECK(upstream.read_head().starts_with("GET /3 "));
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3");

    CHECK(read_response(client, 1).ends_with("\r\n\r\n1"));
    CHECK(read_response(client, 1).ends_with("\r\n\r\n2"));
    CHECK(read_response(client, 1).ends_with("\r\n\r\n3"));
}

TEST_CASE("a request that arrives byte by byte is forwarded once it is complete") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    for (const char byte : get) {
        CHECK_FALSE(gateway.upstream.called());
        client.send({&byte, 1});
        gateway.settle();
    }

    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);

    CHECK(read_response(client).ends_with("hi"));
}

TEST_CASE("a client that asks for close is closed after its response") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);

    const std::string response = client.read_to_end();

    CHECK(has(response, "\r\nConnection: close\r\n"));
    CHECK(response.ends_with("hi"));
    CHECK(gateway.pooled() == 1); // the upstream had no part in that
}

TEST_CASE("an upstream that asks for close is not pooled, and the client does not notice") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi");

    const std::string response = read_response(client);

    CHECK_FALSE(has(response, "Connection: close"));
    CHECK(gateway.pooled() == 0);
    upstream.wait_closed();
    CHECK_FALSE(client.closed());
}

TEST_CASE("an idle connection is closed after its time and survives being parked before") {
    InProcessGateway gateway{"timeouts: {idle: 60s}\n" + std::string{plain}};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);

    gateway.pass(2s); // gives its buffer back
    client.send(get);
    upstream.read_head();
    upstream.send(ok);
    CHECK(read_response(client).ends_with("hi"));
    gateway.pass(2s);
    gateway.pass(30s);
    CHECK_FALSE(client.closed());
    gateway.pass(61s);

    CHECK(client.read_to_end().empty());
}

TEST_CASE("a head that does not arrive in time is answered with 408") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send("GET / HT");

    gateway.pass(11s);

    CHECK(client.read_head().starts_with("HTTP/1.1 408 "));
    CHECK(gateway.ended(Outcome::client_gone, 4) == 1);
}

TEST_CASE("a connection that says nothing is closed without an answer") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    gateway.settle();

    gateway.pass(11s);

    CHECK(client.read_to_end().empty());
}

TEST_CASE("a request under way ends under the configuration that it began with") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();

    gateway.reload("routes: [{name: other, match: {path: /other}, upstream: origin}]");
    upstream.send(ok);

    CHECK(read_response(client).ends_with("hi"));
    client.send(get);
    CHECK(client.read_head().starts_with("HTTP/1.1 404 "));
}
