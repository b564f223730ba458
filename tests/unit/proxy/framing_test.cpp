#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

namespace {

// What becomes of one response, given how the client asked for it. The upstream closes behind it.
std::string relayed(std::string_view request, std::string_view response) {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(request);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(response);
    upstream.close();
    gateway.settle();
    client.shutdown_send();
    return client.read_to_end();
}

} // namespace

TEST_CASE("the answer to HEAD has the upstream's length and no body") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    Wire upstream = gateway.upstream.accept();
    CHECK(upstream.read_head().starts_with("HEAD / HTTP/1.1\r\n"));
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    CHECK(has(client.read_head(), "\r\nContent-Length: 1000\r\n"));

    client.send(get); // both connections go on
    upstream.read_head();
    upstream.send(ok);

    CHECK(read_response(client).ends_with("hi"));
    CHECK(gateway.to_upstream().connects == 1);
}

TEST_CASE("204 and 304 have no body whatever their head says") {
    std::string_view response;
    SUBCASE("204") {
        response = "HTTP/1.1 204 No Content\r\n\r\n";
    }
    SUBCASE("304") {
        response = "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n";
    }
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();

    upstream.send(response);

    client.read_head();
    CHECK(client.received().empty());
    gateway.settle();
    CHECK(gateway.pooled() == 1);
}

TEST_CASE("a chunked body is relayed in chunks, its payload unchanged") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();

    upstream.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n");
    CHECK(has(client.read_head(), "\r\nTransfer-Encoding: chunked\r\n"));
    CHECK(client.read_until("abc\r\n") == "3\r\nabc\r\n"); // before the end is known
    upstream.send("2\r\nde\r\n0\r\nTrailer: 1\r\n\r\n");

    CHECK(client.read_until("0\r\n\r\n") == "2\r\nde\r\n0\r\n\r\n");
    gateway.settle();
    CHECK(gateway.pooled() == 1);
    CHECK_FALSE(client.closed());
}

TEST_CASE("a chunked body may be cut anywhere") {
    constexpr std::string_view response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                          "3\r\nabc\r\n4;x\r\ndefg\r\n0\r\n\r\n";
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    for (std::size_t cut = 1; cut < response.size(); ++cut) {
        CAPTURE(cut);
        if (cut > 1)
            client.send(get);
        upstream.read_head();

        upstream.send(response.substr(0, cut));
        gateway.settle();
        upstream.send(response.substr(cut));

        client.read_head();
        const std::string body = client.read_until("0\r\n\r\n");
        std::string payload;
        for (std::size_t at = 0; at + 5 < body.size();) {
            const std::size_t size = body[at] - std::size_t{'0'};
            payload += body.substr(at + 3, size);
            at += 3 + size + 2;
        }
        CHECK(payload == "abcdefg");
    }
    gateway.settle();
    CHECK(gateway.pooled() == 1);
}

TEST_CASE("a body that ends with the connection is chunked for HTTP/1.1") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send("HTTP/1.1 200 OK\r\n\r\nabc");
    CHECK(has(client.read_head(), "\r\nTransfer-Encoding: chunked\r\n"));
    CHECK(client.read_until("abc\r\n") == "3\r\nabc\r\n");

    upstream.close();

    CHECK(client.read_until("0\r\n\r\n") == "0\r\n\r\n");
    CHECK_FALSE(client.closed());
    CHECK(gateway.pooled() == 0);
}

TEST_CASE("for HTTP/1.0 a body without a known length ends with the connection") {
    std::string_view response;
    SUBCASE("chunked") {
        response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    }
    SUBCASE("until close") {
        response = "HTTP/1.1 200 OK\r\n\r\nabc";
    }

    const std::string seen =
        relayed("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", response);

    CHECK(seen.ends_with("\r\n\r\nabc"));
    CHECK_FALSE(has(seen, "Transfer-Encoding"));
    CHECK(has(seen, "\r\nConnection: close\r\n"));
}

TEST_CASE("an HTTP/1.0 client may keep its connection where the length is known") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);

    const std::string response = read_response(client);

    CHECK(has(response, "\r\nConnection: keep-alive\r\n"));
    gateway.settle();
    CHECK_FALSE(client.closed());
}

TEST_CASE("a response larger than every buffer is relayed whole to a client that reads late") {
    InProcessGateway gateway{plain};
    std::string body;
    for (int line = 0; body.size() < 8'000'000; ++line)
        body += std::to_string(line) + "\n";
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");

    std::string seen;
    client.read_head();
    for (std::size_t at = 0; at < body.size(); at += 1'000'000) {
        const std::string part = body.substr(at, 1'000'000);
        upstream.send(part); // into the kernel's buffers and the gateway's one block
        seen += client.read(part.size());
    }

    CHECK(seen == body);
    gateway.settle();
    CHECK(gateway.pooled() == 1);
}

TEST_CASE("a slow client makes the upstream wait") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
    const std::string part(1 << 20, 'x');

    // The kernel's buffers take some megabytes, and nothing takes the rest.
    int sent = 0;
    while (sent < 200 && upstream.send_some(part) > 0) {
        gateway.settle();
        ++sent;
    }

    CHECK(sent < 200);
    client.reset();
    upstream.wait_closed();
}
