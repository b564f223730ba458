#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

namespace {

constexpr std::string_view narrow = "max_target: 1KiB\nmax_fields: 8\nmax_head: 4KiB\n"
                                    "routes: [{name: all, match: {path: /}, upstream: origin}]";

std::string with_target(std::size_t size) {
    return "GET /" + std::string(size - 1, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

std::string with_fields(std::size_t count) {
    std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (std::size_t i = 1; i < count; ++i)
        head += "X: y\r\n";
    return head + "\r\n";
}

// How a connection that has sent this is answered.
std::string answer_to(InProcessGateway& gateway, std::string_view bytes) {
    Wire client = gateway.connect();
    client.send(bytes);
    return client.read_head().substr(9, 3);
}

} // namespace

TEST_CASE("a target of max_target bytes is the longest") {
    InProcessGateway gateway{narrow};
    Wire client = gateway.connect();
    client.send(with_target(1024));
    Wire upstream = gateway.upstream.accept();
    CHECK(upstream.read_head().starts_with("GET /aaa"));
    upstream.send(ok);
    read_response(client);

    client.send(with_target(1025) + std::string{get});

    const std::string answered = client.read_to_end();
    CHECK(answered.starts_with("HTTP/1.1 414 "));
    CHECK(has(answered, "\r\nConnection: close\r\n"));
    CHECK(upstream.received().empty());
}

TEST_CASE("a target that does not end is refused without waiting for its end") {
    InProcessGateway gateway{narrow};

    CHECK(answer_to(gateway, "GET /" + std::string(1100, 'a')) == "414");
    CHECK(answer_to(gateway, "GET /" + std::string(1100, 'a') + " HTTP/1.1\r\nHost") == "414");
    CHECK(answer_to(gateway, "GET /" + std::string(5000, 'a')) == "414");
    CHECK(answer_to(gateway, with_target(8000)) == "414");
    CHECK(answer_to(gateway, "GET / HTTP/1.1\r\nX: " + std::string(5000, 'a')) == "431");
    gateway.reload("max_target: 64KiB\nmax_head: 4KiB\n" + std::string{plain});
    CHECK(answer_to(gateway, "GET /" + std::string(5000, 'a')) == "414");
    CHECK(answer_to(gateway, with_target(5000)) == "414"); // its line alone is beyond max_head
}

TEST_CASE("a target that trickles in is refused at the same byte") {
    InProcessGateway gateway{narrow};
    Wire client = gateway.connect();
    client.send("GET /" + std::string(1024 + 64 - 5, 'a'));
    gateway.settle();
    CHECK(client.received().empty());

    client.send("a");

    CHECK(client.read_to_end().starts_with("HTTP/1.1 414 "));
}

TEST_CASE("one field more than max_fields is refused, and both limits follow a reload") {
    InProcessGateway gateway{narrow};
    CHECK(answer_to(gateway, with_fields(9)) == "431");
    gateway.reload("max_fields: 9\n" + std::string{plain});

    Wire client = gateway.connect();
    client.send(with_fields(9));
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n"
                  "E: 5\r\nF: 6\r\nG: 7\r\nH: 8\r\nI: 9\r\n\r\n");

    CHECK(client.read_head().starts_with("HTTP/1.1 502 "));
    CHECK(answer_to(gateway, with_fields(10)) == "431");
    Wire other = gateway.connect();
    other.send(with_target(1200));
    CHECK(gateway.upstream.accept().read_head().starts_with("GET /aaa"));
}

TEST_CASE("a request that waits is sent although a reload has narrowed what new ones may be") {
    constexpr std::string_view waiting = "limits: {slot: {concurrent: 1, when_exceeded: wait}}\n"
                                         "routes: [{name: all, upstream: origin, limits: [slot]}]";
    InProcessGateway gateway{waiting};
    Wire first = gateway.connect();
    first.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    Wire second = gateway.connect();
    second.send(with_fields(20));
    gateway.settle();

    gateway.reload("max_fields: 8\n" + std::string{waiting});
    upstream.send(ok);
    gateway.settle();
    gateway.let_go();

    CHECK(has(upstream.read_head(), "\r\nX: y\r\n"));
}

TEST_CASE("the HTTP/2 preface is answered 505, and nothing behind it is read") {
    const std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string{get};
    InProcessGateway gateway{plain};
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        CAPTURE(cut);
        Wire client = gateway.connect();
        client.send(std::string_view{bytes}.substr(0, cut));
        gateway.settle();
        client.send(std::string_view{bytes}.substr(cut));

        const std::string answered = client.read_to_end();

        CHECK(answered.starts_with("HTTP/1.1 505 "));
        CHECK_FALSE(has(answered, "\nHTTP/"));
        CHECK_FALSE(gateway.upstream.called());
    }
}

TEST_CASE("one empty line before a request is let pass, wherever it is cut; two are not") {
    InProcessGateway gateway{plain};
    Wire upstream{gateway.loop(), {}};
    const std::string one = "\r\n" + std::string{get};
    for (std::size_t cut = 0; cut <= one.size(); ++cut) {
        CAPTURE(cut);
        Wire client = gateway.connect();
        client.send(std::string_view{one}.substr(0, cut));
        gateway.settle();
        client.send(std::string_view{one}.substr(cut));
        if (cut == 0)
            upstream = gateway.upstream.accept();
        CHECK(upstream.read_head().starts_with("GET / "));
        upstream.send(ok);
        CHECK(read_response(client).ends_with("hi"));
    }
    for (const std::string_view before : {"\r\n\r\n", "\n", "\r", "\r\n\n", "\r\n\r", "\r\r\n"}) {
        const std::string two = std::string{before} + std::string{get};
        for (std::size_t cut = 0; cut <= two.size(); ++cut) {
            CAPTURE(before);
            CAPTURE(cut);
            Wire client = gateway.connect();
            client.send(std::string_view{two}.substr(0, cut));
            gateway.settle();
            client.send_some(std::string_view{two}.substr(cut));
            CHECK(client.read_head().starts_with("HTTP/1.1 400 "));
        }
    }
    CHECK(upstream.received().empty());
}

TEST_CASE("a client that sends nothing but empty lines is kept no longer than a head may take") {
    std::string_view lines;
    SUBCASE("one") {
        lines = "\r\n";
    }
    SUBCASE("one and a half") {
        lines = "\r\n\r";
    }
    SUBCASE("two") {
        lines = "\r\n\r\n";
    }
    InProcessGateway gateway{"timeouts: {head: 5s, idle: 1h}\n" + std::string{plain}};
    Wire client = gateway.connect();
    client.send(lines);
    gateway.settle();

    gateway.pass(6s);
    gateway.pass(2s);

    client.wait_closed();
}
