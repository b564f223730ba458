#include "fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace stint::test;

namespace {

constexpr std::string_view ten_bytes =
    "max_body: 10\n"
    "limits: {budget: {requests: 2, per: 1h}}\n"
    "routes:\n"
    "  - {name: all, upstream: origin, limits: [budget]}\n"
    "  - {name: large, match: {path: /large}, upstream: origin, max_body: 20}\n"
    "  - {name: none, match: {path: /none}, upstream: origin, max_body: 0}\n"
    "  - {name: any, match: {path: /any}, upstream: origin, max_body: off}\n";

std::string post(std::string_view target, std::string_view rest) {
    return "POST " + std::string{target} + " HTTP/1.1\r\nHost: a\r\n" + std::string{rest};
}

constexpr std::string_view chunked = "Transfer-Encoding: chunked\r\n\r\n";

} // namespace

TEST_CASE("a longer Content-Length is refused at once, charged nothing and never forwarded") {
    std::string_view target = "/";
    std::string_view length = "11";
    SUBCASE("the default") {}
    SUBCASE("the route's own") {
        target = "/large";
        length = "21";
    }
    SUBCASE("no body at all") {
        target = "/none";
        length = "1";
    }
    SUBCASE("with an expectation") {
        length = "11\r\nExpect: 100-continue";
    }
    InProcessGateway gateway{ten_bytes};
    Wire client = gateway.connect();

    client.send(post(target, "Content-Length: " + std::string{length} + "\r\n\r\nabc"));

    const std::string answered = client.read_to_end();
    CHECK(answered.starts_with("HTTP/1.1 413 Content Too Large\r\n"));
    CHECK(has(answered, "\r\nConnection: close\r\n"));
    CHECK_FALSE(gateway.upstream.called());
    CHECK(gateway.ended(Outcome::rejected, 4) == 1);
    for (int i = 0; i < 2; ++i) { // the whole budget is there
        Wire other = gateway.connect();
        other.send(get);
        Wire upstream = gateway.upstream.accept();
        upstream.read_head();
    }
}

TEST_CASE("a body that just fits is forwarded") {
    InProcessGateway gateway{ten_bytes};
    Wire client = gateway.connect();

    client.send(post("/", "Content-Length: 10\r\n\r\n0123456789"));

    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    CHECK(upstream.read(10) == "0123456789");
    upstream.send(ok);
    read_response(client);
    client.send(post("/any", "Content-Length: 99999999999\r\n\r\n"));
    CHECK(has(upstream.read_head(), "\r\nContent-Length: 99999999999\r\n"));
}

TEST_CASE("chunks are counted as they come, and no upstream sees an end of too many") {
    const std::string fits = std::string{chunked} + "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n";
    const std::string request =
        post("/", std::string{chunked} + "5\r\n01234\r\n6\r\n56789a\r\n0\r\n\r\n");
    for (std::size_t cut = request.find("\r\n\r\n"); cut <= request.size(); ++cut) {
        CAPTURE(cut);
        InProcessGateway gateway{ten_bytes};
        Wire client = gateway.connect();
        client.send(request.substr(0, cut));
        gateway.settle();
        Wire upstream{gateway.loop(), {}};
        if (gateway.upstream.called())
            upstream = gateway.upstream.accept();
        client.send_some(request.substr(cut));
        gateway.settle();

        const std::string answered = client.read_to_end();

        CHECK(answered.starts_with("HTTP/1.1 413 "));
        CHECK(has(answered, "\r\nConnection: close\r\n"));
        CHECK_FALSE(has(upstream.received(), "0\r\n\r\n"));
        CHECK(gateway.pooled() == 0);
    }
    InProcessGateway gateway{ten_bytes};
    Wire client = gateway.connect();
    client.send(post("/", fits));
    Wire upstream = gateway.upstream.accept();
    CHECK(upstream.read_until("0\r\n\r\n").ends_with("\r\n0\r\n\r\n"));
}

TEST_CASE("a body that grows too long while it is sent keeps what was charged") {
    InProcessGateway gateway{ten_bytes};
    Wire client = gateway.connect();
    client.send(post("/", std::string{chunked} + "5\r\n01234\r\n"));
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("01234\r\n");

    client.send("6\r\n56789a\r\n");

    CHECK(client.read_to_end().starts_with("HTTP/1.1 413 "));
    upstream.wait_closed();
    Wire second = gateway.connect();
    second.send(get);
    gateway.upstream.accept().read_head();
    Wire third = gateway.connect();
    third.send(get);
    CHECK(third.read_head().starts_with("HTTP/1.1 429 "));
}

TEST_CASE("a body that grows too long under its answer resets the client") {
    InProcessGateway gateway{ten_bytes};
    Wire client = gateway.connect();
    client.send(post("/large", std::string{chunked} + "5\r\n01234\r\n"));
    Wire upstream = gateway.upstream.accept();
    upstream.read_until("01234\r\n");
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
    client.read_head();

    client.send("14\r\n01234567890123456789\r\n");

    client.wait_closed();
    upstream.wait_closed();
    CHECK(gateway.pooled() == 0);
}

TEST_CASE("a refused request's body may be read to its end whatever its length") {
    InProcessGateway gateway{"max_body: 10\nlimits: {budget: {requests: 1, per: 1h}}\n"
                             "routes: [{name: all, upstream: origin, limits: [budget]}]"};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);

    client.send(post("/", chunked));
    CHECK(client.read_head().starts_with("HTTP/1.1 429 "));
    client.read_until("}\n");
    client.send("14\r\n01234567890123456789\r\n0\r\n\r\n" + std::string{get});

    CHECK(client.read_head().starts_with("HTTP/1.1 429 "));
}
