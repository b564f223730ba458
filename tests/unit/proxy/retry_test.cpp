#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::test;

namespace {

// A gateway with one pooled connection, whose upstream end the test holds.
struct Warm {
    Warm() {
        client.send(get);
        pooled = gateway.upstream.accept();
        pooled.read_head();
        pooled.send(ok);
        read_response(client);
        gateway.run_until([this] { return gateway.pooled() == 1; });
    }

    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    Wire pooled{gateway.loop(), {}};
};

} // namespace

TEST_CASE("a GET on a pooled connection that dies is sent once more on a fresh one") {
    Warm warm;
    std::string request{get};
    SUBCASE("GET") {}
    SUBCASE("a PUT whose body is at hand") {
        request = "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
    }
    SUBCASE("a PUT with a chunked body at hand") {
        request = "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "4\r\nbody\r\n0\r\n\r\n";
    }
    warm.client.send(request);
    const std::string first_head = warm.pooled.read_head();
    warm.gateway.settle();
    const std::string first_body{warm.pooled.received()};

    warm.pooled.close();

    Wire fresh = warm.gateway.upstream.accept();
    CHECK(fresh.read_head() == first_head);
    CHECK(fresh.read(first_body.size()) == first_body);
    fresh.send(ok);
    CHECK(read_response(warm.client).ends_with("hi"));
    CHECK(warm.gateway.to_upstream().retries == 1);
}

TEST_CASE("the second try is the last") {
    Warm warm;
    warm.client.send(get);
    warm.pooled.read_head();
    warm.pooled.close();

    Wire fresh = warm.gateway.upstream.accept();
    fresh.read_head();
    fresh.close();

    CHECK(warm.client.read_head().starts_with("HTTP/1.1 502 "));
    CHECK_FALSE(warm.gateway.upstream.called());
}

TEST_CASE("a POST on a pooled connection that dies is not sent again") {
    Warm warm;
    warm.client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
    warm.pooled.read_until("body");

    warm.pooled.close();

    CHECK(warm.client.read_head().starts_with("HTTP/1.1 502 "));
    CHECK_FALSE(warm.gateway.upstream.called());
    CHECK(warm.gateway.to_upstream().retries == 0);
}

TEST_CASE("a GET is not sent again once anything of an answer has come") {
    Warm warm;
    warm.client.send(get);
    warm.pooled.read_head();

    warm.pooled.send("HTTP/1.1 2");
    warm.gateway.settle();
    warm.pooled.close();

    CHECK(warm.client.read_head().starts_with("HTTP/1.1 502 "));
    CHECK_FALSE(warm.gateway.upstream.called());
}

TEST_CASE("a GET on a fresh connection that dies is not sent again") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();

    upstream.close();

    CHECK(client.read_head().starts_with("HTTP/1.1 502 "));
    CHECK_FALSE(gateway.upstream.called());
}

TEST_CASE("a pooled connection that was closed while idle is not used at all") {
    Warm warm;
    std::string request{get};
    SUBCASE("GET") {}
    SUBCASE("POST") {
        request = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
    }
    warm.pooled.close();

    warm.client.send(request);

    Wire fresh = warm.gateway.upstream.accept();
    fresh.read_head();
    fresh.send(ok);
    CHECK(read_response(warm.client).ends_with("hi"));
    CHECK(warm.gateway.to_upstream().retries == 0);
}

TEST_CASE("bytes that an idle upstream sends are never the answer to the next request") {
    Warm warm;
    warm.pooled.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");

    warm.client.send(get);

    Wire fresh = warm.gateway.upstream.accept();
    fresh.read_head();
    fresh.send(ok);
    CHECK(read_response(warm.client).ends_with("\r\n\r\nhi"));
}
