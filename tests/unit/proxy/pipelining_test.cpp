// Bytes that arrive while the request before them is still under way.
#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

TEST_CASE("a pipelined request's body may arrive after its turn has come") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    client.send("POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n\r\nfirst");
    gateway.settle(); // read, while the answer to the first is due
    upstream.send(ok);
    upstream.read_until("first");

    client.send("third");
    gateway.settle();
    client.send("fifthGET /3 HTTP/1.1\r\nHost: a\r\n\r\n");

    CHECK(upstream.read(10) == "thirdfifth");
    upstream.send(ok);
    CHECK(upstream.read_head().starts_with("GET /3 "));
    upstream.send(ok);
    for (int i = 0; i < 3; ++i)
        CHECK(read_response(client).ends_with("hi"));
}

TEST_CASE("a pipelined request whose client has gone is not begun") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect_half_closing();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    client.send("POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n\r\nfirst");
    gateway.settle();
    client.reset();

    upstream.wait_closed();

    gateway.run_until([&] { return gateway.context().connections.empty(); });
    CHECK_FALSE(gateway.upstream.called());
}

TEST_CASE("pipelined requests stay whole wherever they lie in the connection's buffer") {
    InProcessGateway gateway{"max_head: 1KiB\n" + std::string{plain}};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();

    // One is under way, one waits; what comes next is read behind them.
    for (int i = 0; i < 100; ++i) {
        CAPTURE(i);
        client.send("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n");
        gateway.settle();
        const std::string head = upstream.read_head();
        const std::string expected = i == 0 ? "GET / " : "GET /" + std::to_string(i - 1) + " ";
        REQUIRE(head.starts_with(expected));
        upstream.send(ok);
        REQUIRE(read_response(client).ends_with("hi"));
    }
}

TEST_CASE("pipelined requests may be cut anywhere") {
    std::string requests;
    for (int i = 0; i < 40; ++i)
        requests += "POST /" + std::to_string(i) +
                    " HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789";
    for (std::size_t step = 1; step < 200; step += 13) {
        CAPTURE(step);
        InProcessGateway gateway{"max_head: 1KiB\n" + std::string{plain}};
        Wire client = gateway.connect();
        Wire upstream{gateway.loop(), {}};
        std::size_t answered = 0;
        for (std::size_t at = 0; at < requests.size(); at += step) {
            client.send(std::string_view{requests}.substr(at, step));
            gateway.settle();
            if (gateway.upstream.called())
                upstream = gateway.upstream.accept();
            if (gateway.to_upstream().connects == 0)
                continue;
            if (!has(upstream.received(), "0123456789"))
                continue;
            REQUIRE(upstream.read_until("0123456789")
                        .starts_with("POST /" + std::to_string(answered++) + " "));
            upstream.send(ok);
        }
        for (; answered < 40; upstream.send(ok))
            REQUIRE(upstream.read_until("0123456789")
                        .starts_with("POST /" + std::to_string(answered++) + " "));
        for (int i = 0; i < 40; ++i)
            read_response(client);
    }
}

TEST_CASE("a client that pipelines and never reads is held back, at the price of one block") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    std::string requests;
    for (int i = 0; i < 1000; ++i)
        requests += get;
    const std::string answer =
        "HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + std::string(60'000, 'x');
    std::size_t sent = 0;
    const auto push = [&] {
        std::size_t took = 0;
        do {
            took = client.send_some(std::string_view{requests}.substr(sent % requests.size()));
            sent += took;
            gateway.settle();
        } while (took > 0 && sent < 100'000'000);
    };
    push();
    Wire upstream = gateway.upstream.accept();

    // Answers go out until the client's side takes no more; then no request is begun either.
    std::size_t answered = 0;
    while (has(upstream.received(), "\r\n\r\n") && answered < 10'000) {
        upstream.read_head();
        upstream.send(answer);
        ++answered;
        push();
    }

    CHECK(answered < 10'000);
    CHECK(sent < 100'000'000);
    CHECK(gateway.context().active->connections.head_blocks->held() == 1);
    CHECK(gateway.context().body_blocks.held() == 1);
    CHECK(gateway.to_upstream().connects == 1);
}

TEST_CASE(
    "a response that breaks off leaves those before it to a client that is slow to read them") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect_narrow();
    client.send(get);
    client.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    const std::string first(12'000, 'x'); // more than the client's window
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 12000\r\n\r\n" + first);
    CHECK(upstream.read_head().starts_with("GET /2 "));
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    gateway.settle();

    upstream.close();
    gateway.run_until([&] { return gateway.context().connections.empty(); });

    CHECK(read_response(client, first.size()).ends_with(first));
    CHECK(client.read_to_end().ends_with("\r\n\r\nhalf"));
}

TEST_CASE(
    "a response that only its connection's end ends is reset all the same where it breaks off") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect_narrow();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.send("GET /2 HTTP/1.0\r\nHost: a\r\n\r\n");
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    const std::string first(12'000, 'x');
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 12000\r\n\r\n" + first);
    CHECK(upstream.read_head().starts_with("GET /2 "));
    upstream.send("HTTP/1.1 200 OK\r\n\r\nhalf");
    gateway.settle();

    upstream.reset();
    gateway.run_until([&] { return gateway.context().connections.empty(); });

    gateway.run_until([&] { return client.closed(); });
    CHECK((client.was_reset() || over_tls()));
}
