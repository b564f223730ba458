#include "fixture.hpp"
#include "http/permit_text.hpp"
#include "limits/reservation/reservations.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace stint;
using namespace stint::test;
using namespace std::chrono_literals;

namespace {

const std::string trusting = "trusted_proxies: [127.0.0.1]\npermits: {address: 127.0.0.1:2}\n";

const std::string some_limits =
    trusting +
    "limits:\n"
    "  two: {requests: 2, per: 1h, key: client_ip}\n"
    "  posts: {requests: 1, per: 1h, status: 503, body: {content_type: text/plain,"
    " text: \"{limit}\"}}\n"
    "  slot: {concurrent: 1}\n"
    "  told: {requests: 9, per: 1h, cost: header:X-Cost, reserve: 5}\n"
    "  banned: {requests: 9, per: 1h, key: client_ip, deny: [192.0.2.66]}\n"
    "  cheap: {requests: 9, per: 1h, cost: header:X-Cost}\n"
    "  shadow: {requests: 1, per: 1h, enforce: false}\n"
    "headers: both\n"
    "routes:\n"
    "  - {name: pages, match: {path: /, methods: [GET]}, upstream: origin, limits: [two]}\n"
    "  - {name: posts, match: {path: /, methods: [POST]}, upstream: origin, limits: [posts]}\n"
    "  - {name: slow, match: {path: /slow}, upstream: origin, limits: [two, slot, told]}\n"
    "  - {name: shop, match: {host: shop.example, path: /}, upstream: origin, limits: [banned]}\n"
    "  - {name: free, match: {path: /free}, upstream: origin}\n"
    "  - {name: cost, match: {path: /cost}, upstream: origin, limits: [cheap, shadow]}\n";

// One limit, and a route that counts against it. `top`: further lines of the configuration.
std::string one_limit(const std::string& settings, const std::string& top = "") {
    return trusting + "limits: {one: {" + settings + "}}\n" + top +
           "routes: [{name: all, match: {path: /}, upstream: origin, limits: [one]}]";
}

struct Asked {
    std::string method = "GET";
    std::string host = "a";
    std::string uri = "/";
    std::string client = "192.0.2.1";
    std::string more{};
    std::string query{};
    std::string asking = "GET";
};

std::string check(const Asked& asked) {
    return asked.asking + " /v1/check" + asked.query +
           " HTTP/1.1\r\nHost: stint\r\nX-Forwarded-Method: " + asked.method +
           "\r\nX-Forwarded-Host: " + asked.host + "\r\nX-Forwarded-Uri: " + asked.uri +
           "\r\nX-Forwarded-For: " + asked.client + "\r\nX-Forwarded-Proto: https\r\n" +
           asked.more + "\r\n";
}

bool has_status(std::string_view answer, int status) {
    return answer.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}

std::uint64_t used(InProcessGateway& gateway, std::string_view name) {
    return gateway.limit(name).state_of({nullptr, {}, 99}, net::read_clocks()).used;
}

// Sends a request that waits for the limit "one", as one of so many.
void send_to_queue(
    InProcessGateway& gateway, Wire& wire, std::string_view request, std::uint64_t waiting = 1) {
    wire.send(request);
    gateway.settle();
    REQUIRE(gateway.limit("one").waiting() == waiting);
}

constexpr std::string_view proxied = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

} // namespace

TEST_CASE("a described request is charged and refused as a proxied one") {
    InProcessGateway gateway{some_limits};
    Wire asker = gateway.connect_for_permits();
    const std::string first = ask(asker, check({}));
    CHECK(has_status(first, 200));
    CHECK(body_of(first) == "{\"granted\":true,\"route\":\"pages\",\"not_checked\":[]}\n");
    CHECK(has(first, "\r\nX-RateLimit-Remaining: 1\r\n"));
    CHECK(has(first, "\r\nRateLimit: \"two\";r=1;"));
    CHECK(has(first, "\r\nX-Request-Id: "));
    CHECK_FALSE(has(first, "X-Stint-"));
    CHECK(has_status(ask(asker, check({})), 200));

    const std::string refused = ask(asker, check({.more = "X-Request-Id: r-1\r\n"}));

    CHECK(has_status(refused, 429));
    CHECK(has(refused, "\r\nRetry-After: 3600\r\nRetry-After-Ms: 3"));
    CHECK(has(refused, "\r\nX-RateLimit-Remaining: 0\r\n"));
    CHECK(has(refused, "\r\nX-Request-Id: r-1\r\n"));
    CHECK(has(refused, "application/problem+json"));
    CHECK(has(refused, R"("limit":"two")"));
    CHECK(gateway.context().counters.refusals.at(0) == 1);
    CHECK(has_status(ask(asker, check({.client = "192.0.2.2"})), 200));
    CHECK(has_status(ask(asker, check({.client = "192.0.2.9, 192.0.2.1"})), 429));
}

TEST_CASE("both ways share the counters") {
    InProcessGateway gateway{some_limits};
    Wire asker = gateway.connect_for_permits();
    ask(asker, check({}));
    ask(asker, check({}));

    Wire client = gateway.connect();
    CHECK(has_status(
        ask(client, "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"), 429));
}

TEST_CASE("routes, methods, hosts and paths are matched as ever") {
    InProcessGateway gateway{
        trusting + "limits: {one: {requests: 1, per: 1h}}\n"
                   "routes: [{name: only, match: {host: a, path: /a, methods: [GET]},"
                   " upstream: origin, limits: [one]}]"};
    Wire asker = gateway.connect_for_permits();

    CHECK(has_status(ask(asker, check({.uri = "/b"})), 404));
    CHECK(has_status(ask(asker, check({.host = "b", .uri = "/a"})), 404));
    const std::string method = ask(asker, check({.method = "PUT", .uri = "/a"}));
    CHECK(has_status(method, 405));
    CHECK(has(method, "\r\nAllow: GET\r\n"));
    CHECK(has_status(ask(asker, check({.uri = "/a/%00"})), 400));
    CHECK(has_status(ask(asker, check({.host = "a b", .uri = "/a"})), 400));
    CHECK(has_status(ask(asker, check({.method = "CONNECT", .uri = "/a"})), 405));
    CHECK(has_status(ask(asker, check({.uri = "/" + std::string(9000, 'a')})), 414));
    CHECK(used(gateway, "one") == 0);
    CHECK(has_status(ask(asker, check({.host = "A:443", .uri = "//x/..//a?b"})), 200));
    CHECK(used(gateway, "one") == 1);
}

TEST_CASE("caps and what the answer settles are told, and not charged") {
    InProcessGateway gateway{some_limits};
    Wire asker = gateway.connect_for_permits();

    const std::string answer = ask(asker, check({.method = "PUT", .uri = "/slow"}));
    CHECK(has_status(answer, 200));
    CHECK(has(answer, "\r\nX-Stint-Not-Checked: slot, told\r\n"));
    CHECK(has(answer, R"("not_checked":["slot","told"])"));
    CHECK(gateway.limit("slot").in_flight() == 0);
    CHECK(used(gateway, "told") == 0);

    ask(asker, check({.method = "PUT", .uri = "/slow"}));
    const std::string refused = ask(asker, check({.method = "PUT", .uri = "/slow"}));
    CHECK(has_status(refused, 429));
    CHECK(has(refused, "\r\nX-Stint-Not-Checked: slot, told\r\n"));
}

TEST_CASE("deny_status=403 says the real one beside it, and all else stays") {
    InProcessGateway gateway{some_limits};
    Wire asker = gateway.connect_for_permits();
    const auto asked = [&](Asked of) {
        of.query = "?deny_status=403";
        return ask(asker, check(of));
    };
    CHECK(has_status(asked({.method = "POST"}), 200));

    const std::string own = asked({.method = "POST"});
    CHECK(own.starts_with("HTTP/1.1 403 Forbidden\r\nServer: stint\r\n"));
    CHECK(has(own, "\r\nX-Stint-Status: 503\r\n"));
    CHECK(has(own, "\r\nRetry-After: 3600\r\n"));
    CHECK(body_of(own) == "posts");
    const std::string banned = asked({.host = "shop.example", .client = "192.0.2.66"});
    CHECK(has_status(banned, 403));
    CHECK(has(banned, "\r\nX-Stint-Status: 403\r\n"));
    CHECK(has(asked({.uri = "/%00"}), "\r\nX-Stint-Status: 400\r\n"));
    CHECK(has(asked({.method = "DELETE"}), "\r\nX-Stint-Status: 405\r\n"));
    const std::string mistake = ask(asker, check({.query = "?deny_status=429"}));
    CHECK(has_status(mistake, 400));
    CHECK_FALSE(has(mistake, "X-Stint-Status"));
}

TEST_CASE("a limit's own answer, its list of the denied, costs and shadows are as proxied") {
    InProcessGateway gateway{some_limits};
    Wire asker = gateway.connect_for_permits();

    CHECK(has_status(ask(asker, check({.host = "shop.example", .client = "192.0.2.66"})), 403));
    CHECK(gateway.context().counters.denied.size() > 0);
    for (int i = 0; i < 2; ++i)
        CHECK(has_status(
            ask(asker, check({.method = "PUT", .uri = "/cost", .more = "X-Cost: 4\r\n"})), 200));
    CHECK(used(gateway, "cheap") == 8);
    CHECK(has_status(
        ask(asker, check({.method = "PUT", .uri = "/cost", .more = "X-Cost: 4\r\n"})), 429));
    CHECK(used(gateway, "shadow") == 1);
    CHECK(has_status(ask(asker, check({.method = "PUT", .uri = "/free"})), 200));
}

TEST_CASE("the described client's Accept chooses the form of a refusal") {
    InProcessGateway gateway{some_limits};
    Wire asker = gateway.connect_for_permits();
    for (int i = 0; i < 2; ++i)
        ask(asker, check({}));

    CHECK(has(ask(asker, check({.more = "Accept: text/html\r\n"})), "Content-Type: text/html"));
}

TEST_CASE("a caller that is not trusted is not believed, unless it has the token") {
    InProcessGateway gateway{
        "permits: {address: 127.0.0.1:2}\n"
        "limits: {one: {requests: 1, per: 1h}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [one]}]"};
    Wire asker = gateway.connect_for_permits();

    const std::string answer = ask(asker, check({}));

    CHECK(has_status(answer, 403));
    CHECK(has(answer, "trusted_proxies"));
    CHECK(used(gateway, "one") == 0);
    CHECK(has_status(ask(asker, check({.query = "?deny_status=403"})), 403));
}

TEST_CASE("a request that is not described says what is missing") {
    InProcessGateway gateway{some_limits};
    Wire asker = gateway.connect_for_permits();

    const std::string answer =
        ask(asker, "GET /v1/check HTTP/1.1\r\nHost: a\r\nX-Forwarded-Method: GET\r\n\r\n");

    CHECK(has_status(answer, 400));
    CHECK(has(answer, "has no X-Forwarded-Host"));
}

TEST_CASE("any method asks, with the client's Origin and body or without") {
    InProcessGateway gateway{some_limits};
    Wire asker = gateway.connect_for_permits();

    CHECK(has_status(ask(asker, check({.more = "Origin: https://a\r\n"})), 200));
    asker.send(check({.client = "192.0.2.3", .asking = "HEAD"}));
    const std::string head = asker.read_head();
    CHECK(has_status(head, 200));
    CHECK(has_status(
        ask(asker,
            check({.client = "192.0.2.4", .more = "Content-Length: 5\r\n", .asking = "POST"}) +
                "hello"),
        200));
    asker.send("OPTIONS /v1/check HTTP/1.1\r\nHost: a\r\nOrigin: https://evil\r\n"
               "Access-Control-Request-Headers: x-forwarded-for\r\n\r\n");
    CHECK_FALSE(has(read_answer(asker), "Access-Control-Allow"));
}

TEST_CASE("a pause of the route is told as to a proxied request") {
    InProcessGateway gateway{
        trusting + "limits: {one: {requests: 9, per: 1h}}\n"
                   "routes: [{name: all, match: {path: /}, upstream: origin, limits: [one],"
                   " cooldown: {}}]"};
    Wire asker = gateway.connect_for_permits();
    ask(asker, post("/v1/feedback", R"({"route":"all","status":503,"retry_after":"120"})"));

    const std::string answer = ask(asker, check({}));

    CHECK(has_status(answer, 503));
    CHECK(has(answer, "\r\nRetry-After: 120\r\n"));
    CHECK(used(gateway, "one") == 0);
}

TEST_CASE("a described request waits for its turn, like a proxied one") {
    InProcessGateway gateway{one_limit(
        "requests: 1, per: 100ms, when_exceeded: wait, max_wait: 20s", "headers: both\n")};
    Wire first = gateway.connect_for_permits();
    CHECK(has_status(ask(first, check({})), 200));
    send_to_queue(gateway, first, check({.more = "X-Request-Id: r-1\r\n"}));
    Wire second = gateway.connect_for_permits();

    second.send(check({}));
    const auto let_go_until = [&](Wire& answered) {
        gateway.run_until([&] {
            gateway.let_go();
            return !answered.received().empty();
        });
        return read_answer(answered);
    };

    const std::string earlier = let_go_until(first);

    CHECK(has_status(earlier, 200));
    CHECK(second.received().empty());
    CHECK(has_status(let_go_until(second), 200));
    CHECK(has(earlier, "\r\nX-Request-Id: r-1\r\n"));
    CHECK(has(earlier, "\r\nX-RateLimit-Remaining: 0\r\n"));
    CHECK(gateway.limit("one").waiting() == 0);
}

TEST_CASE("a described request that would wait for too long is refused, with the time behind all") {
    InProcessGateway gateway{one_limit("requests: 1, per: 1h, when_exceeded: wait, max_wait: 90m")};
    Wire asker = gateway.connect_for_permits();
    CHECK(has_status(ask(asker, check({})), 200));
    Wire waits = gateway.connect();
    send_to_queue(gateway, waits, proxied);

    const std::string refused = ask(asker, check({.client = "127.0.0.1"}));

    CHECK(has_status(refused, 429));
    CHECK(has(refused, "\r\nRetry-After: 7200\r\n")); // behind the request that waits
    CHECK(gateway.limit("one").waiting() == 1);
}

TEST_CASE("a described request whose asking proxy goes away leaves the queue") {
    InProcessGateway gateway{one_limit("requests: 1, per: 1h, when_exceeded: wait, max_wait: 9h")};
    {
        Wire asker = gateway.connect_for_permits();
        CHECK(has_status(ask(asker, check({})), 200));
        send_to_queue(gateway, asker, check({}));
    }
    gateway.settle();

    CHECK(gateway.limit("one").waiting() == 0);
    CHECK(used(gateway, "one") == 1);
}

TEST_CASE("the queue is as fair to described requests as to others") {
    InProcessGateway gateway{
        one_limit("requests: 1, per: 1h, when_exceeded: wait, max_wait: 9h, max_waiting: 2")};
    Wire asker = gateway.connect_for_permits();
    CHECK(has_status(ask(asker, check({})), 200));
    Wire first = gateway.connect();
    Wire second = gateway.connect();
    send_to_queue(gateway, first, proxied, 1);
    send_to_queue(gateway, second, proxied, 2);

    const std::string same_client = ask(asker, check({.client = "127.0.0.1"}));
    asker.send(check({})); // of a client that has no request in the queue
    gateway.settle();

    CHECK(has_status(same_client, 429));
    CHECK(gateway.limit("one").waiting() == 2);
    CHECK(has_status(second.received(), 429)); // the youngest of the client that has the most
    CHECK(first.received() == "");
}

TEST_CASE("a described request needs the fencing token that its route asks for") {
    InProcessGateway gateway{
        trusting +
        "locks: {jobs: {}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, require_fence: jobs}]"};
    Wire asker = gateway.connect_for_permits();
    gateway.limit("lock:jobs").raise_fence(7);

    CHECK(has_status(ask(asker, check({})), 200)); // a safe method
    CHECK(has_status(ask(asker, check({.method = "PUT"})), 412));
    CHECK(has_status(ask(asker, check({.method = "PUT", .more = "X-Stint-Fence: 6\r\n"})), 412));
    CHECK(has_status(ask(asker, check({.method = "PUT", .more = "X-Stint-Fence: 7\r\n"})), 200));
}

TEST_CASE(
    "what the asking proxy forwards costs the client its charge, whatever Max-Forwards says") {
    InProcessGateway gateway{one_limit("requests: 1, per: 1h")};
    Wire asker = gateway.connect_for_permits();

    CHECK(has_status(ask(asker, check({.method = "OPTIONS", .more = "Max-Forwards: 0\r\n"})), 200));
    CHECK(used(gateway, "one") == 1);
}

TEST_CASE("a slot of a limit that reserves is given with its ticket, and claimed with it") {
    InProcessGateway gateway{one_limit("requests: 1, per: 1h, retry_after: reserve")};
    Wire asker = gateway.connect_for_permits();
    CHECK(has_status(ask(asker, check({})), 200));

    const std::string refused = ask(asker, check({.query = "?deny_status=403"}));

    CHECK(has(refused, "\r\nX-Stint-Ticket: "));
    CHECK(gateway.limit("one").reservations().out(net::read_steady_clock()) == 1);
}

TEST_CASE("a permit that the described request shows pays for it") {
    InProcessGateway gateway{some_limits};
    const SteadyTime now = net::read_steady_clock();
    const limits::Charge charge{.limit = &gateway.limit("posts"), .quota = 9};
    const auto id = gateway.context().shared().prepaid.issue({&charge, 1}, now + 1h, now);
    const std::string shows = "X-Stint-Permit: " + http::permit_text(id.value()) + "\r\n";
    Wire asker = gateway.connect_for_permits();

    CHECK(has_status(ask(asker, check({.method = "POST", .more = shows})), 200));
    CHECK(used(gateway, "posts") == 0);
    CHECK(has_status(ask(asker, check({.method = "POST", .more = shows})), 200));
    CHECK(used(gateway, "posts") == 1);
    CHECK(gateway.context().counters.tickets[observe::WorkerCounters::used] == 1);
    CHECK(gateway.context().counters.tickets[observe::WorkerCounters::unknown] == 1);
}
