#include "fixture.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace stint::test;

namespace {

// Two routes, of which one has a limit; all lead to the one upstream.
constexpr std::string_view limited_api =
    "absolute_form: route\n"
    "limits: {once: {requests: 1, per: 1h}}\n"
    "routes:\n"
    "  - {name: all, upstream: origin}\n"
    "  - {name: api, match: {path: /api}, upstream: origin, limits: [once]}\n"
    "  - {name: got, match: {path: /got, methods: [GET]}, upstream: origin, limits: [once]}\n"
    "  - {name: host, match: {host: \"[::1]\"}, upstream: origin, limits: [once]}\n"
    "  - {name: named, match: {host: shop.example}, upstream: origin, limits: [once]}\n";

// The status that this request is answered with, where the upstream answers 200; and the request
// line that the upstream has seen.
struct Story {
    int status = 0;
    std::string seen;
};

class Shop {
  public:
    explicit Shop(std::string_view yaml) : gateway{yaml} {}

    Story tell(std::string_view request) {
        Wire client = gateway.connect();
        client.send(request);
        gateway.settle();
        Story story;
        if (gateway.upstream.called())
            upstream = gateway.upstream.accept();
        gateway.settle();
        if (!upstream.received().empty()) {
            const std::string head = upstream.read_head();
            story.seen = head.substr(0, head.find("\r\n"));
            upstream.send(ok);
        }
        story.status = std::stoi(client.read_head().substr(9, 3));
        return story;
    }
    Story get(std::string_view target, std::string_view host = "a") {
        return tell(
            "GET " + std::string{target} + " HTTP/1.1\r\nHost: " + std::string{host} +
            "\r\nConnection: close\r\n\r\n");
    }

    InProcessGateway gateway;
    Wire upstream{gateway.loop(), {}};
};

} // namespace

TEST_CASE("a limited path is not escaped by its spelling") {
    Shop shop{limited_api};
    REQUIRE(shop.get("/api").status == 200);

    for (const std::string_view target :
         {"/api", "/api/", "//api", "/./api", "/x/../api", "/%61pi", "/%2e/api", "/x/%2E%2e/api",
          "/api/%2F", "/api/x;v=1", "http://a/api", "http://a//api", "/api?x", "///x/..//api/"}) {
        CAPTURE(target);
        const Story story = shop.get(target);
        CHECK(story.status == 429);
        CHECK(story.seen.empty());
    }
}

TEST_CASE("a path that a server may take for another route's is refused") {
    Shop shop{limited_api};
    for (const std::string_view target :
         {"/x%2F..%2Fapi", "/%2Fapi", "/..%2Fx", "/x/..%2F..%2Fy", "/api;v=1", "/api;v=1/x",
          "/x/..;/api", "/..;/x", "/x;%2F..%2Fapi", "/api/..;/x", "/api%2F%2F..%2Fx", "/api%5Cx",
          "/api%00", "/api\\x", "/../api", "/x/%2e%2e/%2e%2e/api"}) {
        CAPTURE(target);
        const Story story = shop.get(target);
        CHECK(story.status == 400);
        CHECK(story.seen.empty());
    }
    CHECK(shop.get("/api").status == 200); // none of them was counted
}

TEST_CASE("an escaped mark leads around no limit") {
    Shop shop{
        "limits: {once: {requests: 1, per: 1h}}\n"
        "routes:\n"
        "  - {name: all, upstream: origin}\n"
        "  - {name: exact, match: {path_exact: \"/a:b\"}, upstream: origin, limits: [once]}\n"
        "  - {name: prefix, match: {path: \"/c(d)\"}, upstream: origin, limits: [once]}\n"
        "  - {name: regex, match: {path_regex: \"/e[=]f\"}, upstream: origin, limits: [once]}"};
    for (const std::string_view target :
         {"/a%3Ab", "/%61%3ab", "/x/../a%3Ab", "/c%28d)", "/c%28d%29/x", "/e%3Df", "/a%3Ab;x",
          "/x%2F..%2Fa%3Ab"}) {
        CAPTURE(target);
        const Story story = shop.get(target);
        CHECK(story.status == 400);
        CHECK(story.seen.empty());
    }
    CHECK(shop.get("/a:b").status == 200); // none of them was counted
    for (const std::string_view target :
         {"/x%3Ab", "/a:b%3A", "/a%253Ab", "//x%28y%29", "/a%3Bb"}) {
        CAPTURE(target);
        const Story story = shop.get(target);
        CHECK(story.status == 200);
    }
    CHECK(shop.get("/x%3a%28").seen == "GET /x%3a%28 HTTP/1.1");
}

TEST_CASE("a path that no reading leads elsewhere goes on as it came") {
    Shop shop{limited_api};
    for (const std::string_view target :
         {"/a%2fb", "/a;v=1/b;w", "/%7e", "/a//b", "/a%2F..%2Fb", "/x/..;/y", "/;api", "/.a",
          "/api%2F..%2Fx", "/a?b/../c", "/a?%2F;", "/%C3%a9", "/a/"}) {
        CAPTURE(target);
        const Story story = shop.get(target);
        CHECK(story.status == 200);
        CHECK(story.seen == "GET " + std::string{target} + " HTTP/1.1");
    }
}

TEST_CASE("a path is sent as it was routed where a server may route it otherwise") {
    struct Row {
        std::string_view target;
        std::string_view seen;
    };
    const std::vector<Row> rows{
        {"/a/../b", "/b"},     {"/a/%2e%2E/b?c/../d", "/b?c/../d"},
        {"/./a/.", "/a/"},     {"//evil.example/x", "/evil.example/x"},
        {"//a?", "/a?"},       {"http://a/b/../c?d", "/c?d"},
        {"http://a//b", "/b"}, {"/a%2fb/./c", "/a%2Fb/c"},
    };
    Shop shop{"absolute_form: route\n" + std::string{plain}};
    for (const Row& row : rows) {
        CAPTURE(row.target);
        const Story story = shop.get(row.target);
        CHECK(story.status == 200);
        CHECK(story.seen == "GET " + std::string{row.seen} + " HTTP/1.1");
    }
}

TEST_CASE("a path that is rewritten is so again when the request is sent again") {
    Shop shop{plain};
    REQUIRE(shop.get("/").status == 200);
    shop.gateway.run_until([&] { return shop.gateway.pooled() == 1; });
    Wire client = shop.gateway.connect();
    client.send("GET /a/../b?c HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string first = shop.upstream.read_head();
    REQUIRE(first.starts_with("GET /b?c HTTP/1.1\r\n"));

    shop.upstream.close();

    CHECK(shop.gateway.upstream.accept().read_head() == first);
}

TEST_CASE("a path that is rewritten is so after a wait for a turn") {
    InProcessGateway gateway{"limits: {slot: {concurrent: 1, when_exceeded: wait}}\n"
                             "routes: [{name: all, upstream: origin, limits: [slot]}]"};
    Wire first = gateway.connect();
    first.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    Wire second = gateway.connect();
    second.send("GET /a/../b?c HTTP/1.1\r\nHost: a\r\n\r\n");
    gateway.settle();

    upstream.send(ok);
    gateway.settle();
    gateway.let_go();

    CHECK(upstream.read_head().starts_with("GET /b?c HTTP/1.1\r\n"));
}

TEST_CASE("slashes may be kept apart, and escaped ones refused") {
    Shop shop{"merge_slashes: false\nencoded_slashes: refuse\n" + std::string{limited_api}};

    CHECK(shop.get("//api").seen == "GET //api HTTP/1.1");
    CHECK(shop.get("//x/../api").seen == "GET //api HTTP/1.1");
    CHECK(shop.get("/a%2Fb").status == 400);
    CHECK(shop.get("/a%252Fb").status == 200);
}

TEST_CASE("a limited host is not escaped by its spelling") {
    std::string_view first;
    std::vector<std::string_view> others;
    SUBCASE("a name") {
        first = "shop.example";
        others = {"SHOP.example", "shop.example.", "shop.example:8080", "Shop.Example.:80"};
    }
    SUBCASE("an IPv6 address") {
        first = "[::1]";
        others = {"[0:0:0:0:0:0:0:1]", "[::0001]:80", "[::0.0.0.1]"};
    }
    Shop shop{limited_api};
    REQUIRE(shop.get("/", first).status == 200);
    REQUIRE(shop.get("/", "other").status == 200);

    for (const std::string_view other : others) {
        CAPTURE(other);
        CHECK(shop.get("/", other).status == 429);
        CHECK(shop.get("http://" + std::string{other} + "/", "a").status == 429);
    }
    CHECK(shop.tell("GET / HTTP/1.0\r\n\r\n").status == 200); // no Host is no error there
}

TEST_CASE("a limited method is not escaped by its spelling") {
    Shop shop{limited_api};
    REQUIRE(shop.get("/got").status == 200);

    CHECK(shop.tell("get /got HTTP/1.1\r\nHost: a\r\n\r\n").status == 429);
    CHECK(shop.tell("post /got HTTP/1.1\r\nHost: a\r\n\r\n").seen == "post /got HTTP/1.1");
}

TEST_CASE("a path and a method have one key however they are spelt") {
    Shop shop{"limits: {once: {requests: 1, per: 1h, key: [path, method]}}\n"
              "routes: [{name: all, upstream: origin, limits: [once]}]"};
    REQUIRE(shop.get("/a/b").status == 200);
    REQUIRE(shop.get("/a/c").status == 200);

    for (const std::string_view target :
         {"/a/b;v=1", "/a%2Fb", "/a;x/b;y", "/a/./b", "/%61/b", "/a//b", "/x/..;/a%2fb"}) {
        CAPTURE(target);
        CHECK(shop.get(target).status == 429);
    }
    CHECK(shop.tell("gEt /a/b HTTP/1.1\r\nHost: a\r\n\r\n").status == 429);
    REQUIRE(shop.get("/a(b):c").status == 200);
    CHECK(shop.get("/a%28b%29%3ac").status == 429);
}

TEST_CASE("who takes the gateway for a forward proxy is told that it is none") {
    InProcessGateway gateway{one_at_a_time};
    Wire client = gateway.connect();

    client.send("GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n");

    const std::string refused = client.read_until("}\n");
    CHECK(refused.starts_with("HTTP/1.1 421 "));
    CHECK(has(refused, "Stint is no forward proxy, and no route names the host of this URI."));
    CHECK_FALSE(gateway.upstream.called());
    CHECK(gateway.ended(Outcome::rejected, 4) == 1);
}

TEST_CASE("TRACE goes where a route names it, CONNECT nowhere") {
    InProcessGateway gateway{
        "routes:\n"
        "  - {name: any, match: {path: /any}, upstream: origin}\n"
        "  - {name: trace, match: {path: /t, methods: [TRACE, GET]}, upstream: origin}"};
    Wire client = gateway.connect();

    client.send("TRACE /any HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.read_until("}\n").starts_with("HTTP/1.1 405 "));
    client.send("PUT /t HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(has(client.read_until("}\n"), "\r\nAllow: GET, TRACE\r\n"));
    CHECK_FALSE(gateway.upstream.called());
    client.send("TRACE /t HTTP/1.1\r\nHost: a\r\n\r\n");
    Wire upstream = gateway.upstream.accept();
    CHECK(upstream.read_head().starts_with("TRACE /t HTTP/1.1\r\n"));
    upstream.send(ok);
    read_response(client);
    client.send("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string refused = client.read_to_end();
    CHECK(refused.starts_with("HTTP/1.1 405 "));
    CHECK(has(refused, "Stint is no forward proxy"));
    CHECK(upstream.received().empty());
}
