// Fields behind the last chunk: passed on to who takes them, and never more than that.
#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

namespace {

constexpr std::string_view taking = "GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n"
                                    "Connection: TE\r\n\r\n";
constexpr std::string_view with_trailers =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, Set-Cookie\r\n"
    "Connection: X-Gone\r\n\r\n3\r\nabc\r\n0\r\nx-sum:9\r\nSet-Cookie: a=b\r\n"
    "Content-Length: 1\r\nX-Gone: 1\r\nX-Last: z\r\n\r\n";

// All that a client gets that closes its side behind its request.
std::string relayed(std::string_view request, std::string_view response, std::string_view told) {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(request);
    Wire upstream = gateway.upstream.accept();
    const std::string head = upstream.read_head();
    CHECK(has(head, "TE: ") == !told.empty());
    CHECK(has(head, told));
    upstream.send(response);
    upstream.close();
    gateway.settle();
    client.shutdown_send();
    return client.read_to_end();
}

} // namespace

TEST_CASE("trailers go on to a client that takes them, wherever they are cut") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(taking);
    Wire upstream = gateway.upstream.accept();
    for (std::size_t cut = 1; cut < with_trailers.size(); ++cut) {
        CAPTURE(cut);
        if (cut > 1)
            client.send(taking);
        CHECK(has(upstream.read_head(), "\r\nConnection: TE\r\nTE: trailers\r\n"));

        upstream.send(with_trailers.substr(0, cut));
        gateway.settle();
        upstream.send(with_trailers.substr(cut));

        const std::string head = client.read_head();
        CHECK(has(head, "\r\nTrailer: X-Sum\r\n"));
        CHECK_FALSE(has(head, "X-Last"));
        const std::string body = client.read_until("0\r\n");
        CHECK(client.read_head() == "x-sum: 9\r\nX-Last: z\r\n\r\n");
    }
    gateway.settle();
    CHECK(gateway.pooled() == 1);
    CHECK(client.received().empty());
}

TEST_CASE("who does not take trailers gets none") {
    const std::string seen = relayed(get, with_trailers, "");

    CHECK(seen.ends_with("\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
    CHECK_FALSE(has(seen, "Trailer"));
}

TEST_CASE("TE that Connection does not name is not passed on, and still taken at its word") {
    const std::string seen =
        relayed("GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n", with_trailers, "");

    CHECK(seen.ends_with("0\r\nx-sum: 9\r\nX-Last: z\r\n\r\n"));
}

TEST_CASE("trailers follow chunks and nothing else") {
    SUBCASE("a client of HTTP/1.0 takes none") {
        const std::string seen = relayed(
            "GET / HTTP/1.0\r\nHost: a\r\nTE: trailers\r\nConnection: TE\r\n\r\n", with_trailers,
            "");
        CHECK(seen.ends_with("\r\n\r\nabc"));
        CHECK_FALSE(has(seen, "Trailer"));
    }
    SUBCASE("a body of known length has none") {
        const std::string seen = relayed(
            taking, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTrailer: X-Sum\r\n\r\nhi",
            "\r\nTE: trailers\r\n");
        CHECK(seen.ends_with("\r\n\r\nhi"));
        CHECK_FALSE(has(seen, "Trailer"));
    }
    SUBCASE("nor has one that ends with the connection") {
        const std::string seen =
            relayed(taking, "HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\n\r\nhi", "\r\nTE: trailers\r\n");
        CHECK(seen.ends_with("2\r\nhi\r\n0\r\n\r\n"));
        CHECK_FALSE(has(seen, "Trailer"));
    }
}

TEST_CASE("a trailer without end or form breaks the response off") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(taking);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
    client.read_until("1\r\na\r\n");
    SUBCASE("too long") {
        upstream.send("0\r\nX: " + std::string(9000, 'x'));
    }
    SUBCASE("folded") {
        upstream.send("0\r\nX: y\r\n z\r\n\r\n");
    }
    SUBCASE("a control byte") {
        upstream.send("0\r\nX: \x01\r\n\r\n");
    }
    SUBCASE("no colon") {
        upstream.send("0\r\nHTTP/1.1 200 OK\r\n\r\n");
    }
    SUBCASE("broken off") {
        upstream.send("0\r\nX: y\r\n");
        upstream.close();
    }

    CHECK(client.read_to_end().empty());
    CHECK(gateway.pooled() == 0);
    CHECK(gateway.ended(Outcome::upstream_failed, 2) == 1);
}

TEST_CASE("the trailers of a request end here") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                "1\r\na\r\n0\r\nX-Sum: 1\r\nContent-Length: 7\r\n\r\n");
    Wire upstream = gateway.upstream.accept();

    CHECK_FALSE(has(upstream.read_head(), "Trailer"));
    CHECK(upstream.read_until("0\r\n\r\n") == "1\r\na\r\n0\r\n\r\n");
    upstream.send(ok);
    CHECK(read_response(client).ends_with("\r\n\r\nhi"));
}
