#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

namespace {

constexpr std::string_view one_an_hour =
    "limits: {budget: {requests: 1, per: 1h}}\n"
    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget]}]";

} // namespace

TEST_CASE("a HEAD that cannot be read is refused without a body") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send("HEAD / HTTP/1.1\r\nNo-Host: a\r\n\r\n");

    const std::string refusal = client.read_head();
    gateway.settle();

    CHECK(refusal.starts_with("HTTP/1.1 400 "));
    CHECK(has(refusal, "\r\nConnection: close\r\n"));
    CHECK(client.received().empty());
}

TEST_CASE("a refused request keeps its connection and reaches no upstream") {
    InProcessGateway gateway{one_an_hour};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);

    for (int i = 0; i < 3; ++i) {
        client.send(get);
        const std::string refusal = client.read_until("\"retry_after_ms\":");
        CHECK(refusal.starts_with("HTTP/1.1 429 "));
        CHECK(has(refusal, "\r\nRetry-After: 3600\r\n"));
        client.read_until("}\n");
    }

    gateway.settle();
    CHECK_FALSE(client.closed());
    CHECK(upstream.received().empty());
    CHECK_FALSE(gateway.upstream.called());
    CHECK(gateway.ended(Outcome::refused, 4) == 3);
    CHECK(gateway.context().counters.refusals.at(0) == 3);
}

TEST_CASE("who is refused while a large body is under way has the whole refusal") {
    constexpr std::size_t size = 6 * 1024 * 1024; // more than the sockets between them take
    InProcessGateway gateway{one_an_hour};
    Wire first = gateway.connect();
    first.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(first);
    Wire client = gateway.connect();

    client.send(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
    const std::string refusal = client.read_until("}\n");
    gateway.send_in_time(client, std::string(size, 'x'));
    client.shutdown_send();

    CHECK(refusal.starts_with("HTTP/1.1 429 "));
    CHECK(has(refusal, "\r\nConnection: close\r\n"));
    client.wait_closed();
    for (int rounds = 0; gateway.context().connections.size() > 1 && rounds < 100; ++rounds) {
        gateway.settle();
        gateway.pass(100ms);
    }
    CHECK(gateway.context().counters.connections_open == 1);
}

TEST_CASE("a client that was refused and goes on for ever is closed") {
    InProcessGateway gateway{one_an_hour};
    Wire client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: nonsense\r\n\r\nabc");
    CHECK(client.read_head().starts_with("HTTP/1.1 400 "));
    gateway.settle();
    CHECK(gateway.context().counters.connections_open == 1);

    gateway.pass(3s); // without a byte

    CHECK(gateway.context().counters.connections_open == 0);
}

TEST_CASE("the body of a refused request is read and the next request is answered") {
    InProcessGateway gateway{one_an_hour};
    std::string body;
    SUBCASE("of known length") {
        body = "Content-Length: 5\r\n\r\nhello";
    }
    SUBCASE("chunked") {
        body = "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    }
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);
    const std::string request = "POST / HTTP/1.1\r\nHost: a\r\n" + body;

    for (std::size_t cut = 30; cut <= request.size(); ++cut) {
        CAPTURE(cut);
        client.send(request.substr(0, cut));
        gateway.settle();
        client.send(request.substr(cut));
        CHECK(client.read_head().starts_with("HTTP/1.1 429 "));
        client.read_until("}\n");
    }

    CHECK_FALSE(client.closed());
    CHECK(upstream.received().empty());
}

TEST_CASE("a refused client that waits for 100 Continue sends no body and is closed") {
    InProcessGateway gateway{one_an_hour};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);

    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                "Content-Length: 5\r\n\r\n");

    const std::string refusal = client.read_to_end();
    CHECK(refusal.starts_with("HTTP/1.1 429 "));
    CHECK(has(refusal, "\r\nConnection: close\r\n"));
}

TEST_CASE("a cap refuses while its slot is taken and admits once it is free") {
    InProcessGateway gateway{one_at_a_time};
    Wire first = gateway.connect();
    first.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    Wire second = gateway.connect();
    second.send(get);
    CHECK(second.read_head().starts_with("HTTP/1.1 429 "));
    second.read_until("}\n");
    CHECK(gateway.limit("slot").in_flight() == 1);

    upstream.send(ok);
    read_response(first);
    second.send(get);

    upstream.read_head();
    upstream.send(ok);
    CHECK(read_response(second).ends_with("hi"));
    gateway.settle();
    CHECK(gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a raised number holds for the next request, its count is kept") {
    InProcessGateway gateway{one_an_hour};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);

    gateway.reload("limits: {budget: {requests: 2, per: 1h}}\n"
                   "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget]}]");
    client.send(get);
    upstream.read_head();
    upstream.send(ok);
    CHECK(read_response(client).ends_with("hi"));
    client.send(get);

    CHECK(client.read_head().starts_with("HTTP/1.1 429 "));
}

TEST_CASE("what has no route is a 404, a method without one a 405 that names the others") {
    InProcessGateway gateway{
        "routes: [{name: one, match: {path: /a, methods: [GET, PUT]}, upstream: origin}]"};
    Wire client = gateway.connect();

    client.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.read_head().starts_with("HTTP/1.1 404 "));
    client.read_until("}\n");
    client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
    const std::string refusal = client.read_head();

    CHECK(refusal.starts_with("HTTP/1.1 405 "));
    CHECK(has(refusal, "\r\nAllow: GET, PUT\r\n"));
    CHECK_FALSE(gateway.upstream.called());
    CHECK(gateway.ended(Outcome::no_route, 4) == 1);
    CHECK(gateway.ended(Outcome::rejected, 4) == 1);
}

TEST_CASE("a bad head is a 400, and what follows it is not read as a request") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();

    client.send("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n");
    client.send(get);

    const std::string answer = client.read_to_end();
    CHECK(answer.starts_with("HTTP/1.1 400 "));
    CHECK(answer.find("HTTP/1.1", 1) == std::string::npos);
    CHECK_FALSE(gateway.upstream.called());
}

TEST_CASE("a head larger than max_head is a 431") {
    InProcessGateway gateway{"max_head: 1KiB\n" + std::string{plain}};
    Wire client = gateway.connect();

    client.send("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");

    CHECK(client.read_head().starts_with("HTTP/1.1 431 "));
    CHECK_FALSE(gateway.upstream.called());
}
