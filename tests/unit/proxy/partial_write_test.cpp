// What becomes of a request when the upstream's socket has taken a part of it only. Connections to
// the upstream have small buffers and segments here: over loopback as it is every first write is
// whole.
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>

using namespace stint::test;

namespace {

constexpr std::size_t body_size = 50'000;

// Cut anywhere near a line's end, its rest reads as a request.
std::string body_of_requests() {
    std::string body;
    while (body.size() < body_size)
        body += "\r\nPOST /hidden HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    body.resize(body_size);
    return body;
}

constexpr std::string_view large_heads =
    "max_head: 64KiB\n"
    "routes: [{name: all, match: {path: /}, upstream: origin}]";

std::string with_large_field(std::size_t size, std::string_view before, std::string_view behind) {
    return std::string{before} + std::string(size, 'x') + std::string{behind};
}

std::string upload(std::string_view method, const std::string& body) {
    return std::string{method} +
           " /x HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

// A gateway with one pooled connection, whose upstream end the test holds and which takes little.
struct Narrow {
    explicit Narrow(std::string_view yaml = plain) : gateway{yaml} {
        gateway.upstream.narrow();
        client.send(get);
        pooled = gateway.upstream.accept();
        pooled.read_head();
        pooled.send(ok);
        read_response(client);
        gateway.run_until([this] { return gateway.pooled() == 1; });
        gateway.upstream.narrow_callers();
    }

    // The client's request has been read, and the upstream's socket is full.
    void begin(const std::string& request) {
        client.send(request);
        gateway.settle();
    }

    InProcessGateway gateway;
    Wire client = gateway.connect();
    Wire pooled{gateway.loop(), {}};
};

} // namespace

TEST_CASE("a first write that was taken in part goes on as the upstream reads, and is whole") {
    Narrow narrow;
    const std::string body = body_of_requests();
    narrow.begin(upload("POST", body));

    const std::size_t at_first = narrow.pooled.received().size();
    if (!over_tls()) // a record that is there in part is nothing yet
        CHECK(at_first > 0);
    CHECK(at_first < body.size());
    narrow.pooled.read_head();
    CHECK(narrow.pooled.read(body.size()) == body);
    narrow.pooled.send(ok);

    CHECK(read_response(narrow.client).ends_with("hi"));
    narrow.gateway.run_until([&] { return narrow.gateway.pooled() == 1; });
}

TEST_CASE("a POST of which a part was taken goes nowhere else when its connection breaks") {
    Narrow narrow;
    narrow.begin(upload("POST", body_of_requests()));
    bool answers = false;
    SUBCASE("reset") {
        narrow.pooled.reset();
    }
    SUBCASE("closed") {
        narrow.pooled.close();
    }
    SUBCASE("answered, then closed") {
        answers = true;
        narrow.pooled.send("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n"
                           "Content-Length: 2\r\n\r\nno");
        narrow.gateway.settle();
        narrow.pooled.reset();
    }

    CHECK(narrow.client.read_head().starts_with(answers ? "HTTP/1.1 413 " : "HTTP/1.1 502 "));
    narrow.gateway.settle();
    CHECK_FALSE(narrow.gateway.upstream.called());
    CHECK(narrow.gateway.to_upstream().retries == 0);
}

TEST_CASE("a PUT of which a part was taken goes again from its head") {
    Narrow narrow;
    const std::string body = body_of_requests();
    std::string request = upload("PUT", body);
    std::string sent = body;
    SUBCASE("of known length") {
        if (over_tls()) // which is read a record at a time: the body is not at hand
            return;
    }
    SUBCASE("chunked, as much as has come") {
        request = "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "2000\r\n" +
                  body.substr(0, 0x2000) + "\r\n0\r\n\r\n";
        sent = request.substr(request.find("\r\n\r\n") + 4);
    }
    narrow.begin(request);

    narrow.pooled.reset();

    Wire fresh = narrow.gateway.upstream.accept();
    CHECK(fresh.read_head().starts_with("PUT /x HTTP/1.1\r\n"));
    CHECK(fresh.read(sent.size()) == sent);
    fresh.send(ok);
    CHECK(read_response(narrow.client).ends_with("hi"));
    CHECK(narrow.gateway.to_upstream().retries == 1);
    narrow.gateway.settle();
    CHECK_FALSE(narrow.gateway.upstream.called());
    CHECK(fresh.received().empty());
}

TEST_CASE("an answer that comes while the first write waits is relayed at once") {
    Narrow narrow{large_heads};
    const std::string body = body_of_requests();
    std::string rest;
    std::string request = upload("POST", body);
    SUBCASE("the request was read whole") {}
    SUBCASE("its body is still coming") {
        rest = body;
        request = upload("POST", body + body + body).substr(0, 60'000);
    }
    SUBCASE("its head alone is more than the socket takes") { // over TLS, too
        request = with_large_field(body_size, "GET /x HTTP/1.1\r\nHost: a\r\nX-Fill: ", "\r\n\r\n");
    }
    narrow.begin(request);

    narrow.pooled.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");

    const std::string answer = read_response(narrow.client);
    CHECK(answer.starts_with("HTTP/1.1 413 "));
    narrow.gateway.settle();
    // The upstream never had the whole request.
    CHECK(narrow.gateway.pooled() == 0);
    if (rest.empty() && !over_tls()) { // which reads a record at a time
        narrow.client.send(get);
        Wire next = narrow.gateway.upstream.accept();
        next.read_head();
        next.send(ok);
        CHECK(read_response(narrow.client).ends_with("hi"));
    }
}

TEST_CASE("an answer before a reset is relayed also where the rest of the body fails first") {
    Narrow narrow;
    narrow.begin(upload("POST", body_of_requests()));

    narrow.pooled.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
    narrow.pooled.reset();

    CHECK(read_response(narrow.client).starts_with("HTTP/1.1 413 "));
}

TEST_CASE("100 comes behind an interim response that was taken in part, whoever reads first") {
    bool client_reads_first = false;
    SUBCASE("the client has read what there was") {
        client_reads_first = true;
    }
    SUBCASE("the client has read nothing") {}
    Narrow narrow{large_heads};
    narrow.client = narrow.gateway.connect_narrow();
    narrow.begin(with_large_field(
        body_size, "POST /x HTTP/1.1\r\nHost: a\r\nX-Fill: ",
        "\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"));
    narrow.client.narrow_peer();
    const std::string hints =
        with_large_field(30'000, "HTTP/1.1 103 Early Hints\r\nLink: ", "-end\r\n\r\n");
    narrow.pooled.send(hints);
    narrow.gateway.settle();
    if (client_reads_first)
        REQUIRE(narrow.client.received().size() < hints.size()); // there is room now

    narrow.pooled.read_head();
    narrow.gateway.settle();

    CHECK(narrow.client.read_head().ends_with("x-end\r\n\r\n"));
    CHECK(narrow.client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
    narrow.client.send("body");
    CHECK(narrow.pooled.read(4) == "body");
    narrow.pooled.send(ok);
    CHECK(read_response(narrow.client).ends_with("hi"));
}

TEST_CASE("an upstream that takes no more of the first write is a 504 after body_idle") {
    Narrow narrow;
    narrow.begin(upload("POST", body_of_requests()));

    narrow.gateway.pass(31s);

    CHECK(narrow.client.read_head().starts_with("HTTP/1.1 504 "));
}

TEST_CASE("a client that leaves while the first write waits ends it") {
    Narrow narrow{one_at_a_time};
    narrow.begin(upload("POST", body_of_requests()));
    CHECK(narrow.gateway.limit("slot").in_flight() == 1);

    narrow.client.close();

    narrow.gateway.run_until([&] { return narrow.gateway.ended(Outcome::client_gone, 0) == 1; });
    CHECK(narrow.gateway.pooled() == 0);
    CHECK(narrow.gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a POST that another endpoint's pooled connection has taken in part is not sent twice") {
    InProcessGateway gateway{plain, InProcessGateway::TwoEndpoints{}};
    gateway.upstream.narrow();
    gateway.second.narrow();
    Wire client = gateway.connect();
    const auto exchange = [&](ListeningWire& endpoint) {
        client.send(get);
        Wire wire = endpoint.accept();
        wire.read_head();
        wire.send(ok);
        read_response(client);
        return wire;
    };
    Wire first = exchange(gateway.upstream);
    Wire second = exchange(gateway.second);
    gateway.run_until([&] { return gateway.pooled() == 2; });
    gateway.second.narrow_callers();
    first.close();
    gateway.upstream.close(); // whose turn it is: refuses

    client.send(upload("POST", body_of_requests()));
    gateway.settle();
    second.reset();

    CHECK(client.read_head().starts_with("HTTP/1.1 502 "));
    CHECK_FALSE(gateway.second.called());
}
