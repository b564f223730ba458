#include "fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace stint;
using namespace stint::test;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view many =
    "permits: {address: 127.0.0.1:2}\nlimits: {many: {requests: 1000000, per: 1h}}\nroutes: []";

} // namespace

TEST_CASE("a hundred pipelined takes are answered in order") {
    InProcessGateway gateway{many};
    Wire caller = gateway.connect_for_permits();
    std::string requests;
    for (int i = 0; i < 100; ++i)
        requests += take("many");
    caller.send(requests);
    for (int i = 1; i <= 100; ++i)
        CHECK(has(read_answer(caller), "\"remaining\":" + std::to_string(1'000'000 - i) + ","));
}

TEST_CASE("a request in pieces, and one in chunks") {
    InProcessGateway gateway{many};
    Wire caller = gateway.connect_for_permits();
    const std::string request = take("many", R"({"cost":7})");
    for (const char c : request) {
        caller.send({&c, 1});
        gateway.settle();
    }
    CHECK(has(read_answer(caller), R"("remaining":999993)"));
    caller.send("POST /v1/limits/many/take HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                "chunked\r\n\r\n"
                "5\r\n{\"cos\r\n");
    gateway.settle();
    caller.send("5\r\nt\":3}\r\n0\r\n\r\n" + take("many"));
    CHECK(has(read_answer(caller), R"("remaining":999990)"));
    CHECK(has(read_answer(caller), R"("remaining":999989)"));
}

TEST_CASE("a caller that waits to be told to go on is told") {
    InProcessGateway gateway{many};
    Wire caller = gateway.connect_for_permits();
    caller.send("POST /v1/limits/many/take HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                "Expect: 100-continue\r\n\r\n");
    CHECK(has(caller.read_head(), "100 Continue"));
    caller.send("{}");
    CHECK(has(read_answer(caller), "200 OK"));
}

TEST_CASE("what cannot be served is answered and ends the connection") {
    InProcessGateway gateway{many};
    const auto ends_with = [&](const std::string& request, std::string_view status) {
        Wire caller = gateway.connect_for_permits();
        caller.send(request);
        const std::string answer = read_answer(caller);
        CHECK_MESSAGE(has(answer, status), answer);
        CHECK(has(answer, "Connection: close"));
        caller.shutdown_send();
        caller.wait_closed();
    };
    ends_with("nonsense\r\n\r\n", "400");
    ends_with("POST /v1/limits/many/take HTTP/1.1\r\n\r\n", "400");
    ends_with(
        "POST /v1/limits/many/take HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65537\r\n\r\n",
        "413");
    ends_with(
        "POST /v1/limits/many/take HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
        "chunked\r\n\r\nx\r\n",
        "400");
    ends_with("GET /" + std::string(20'000, 'x'), "431");
    gateway.settle();
    CHECK(gateway.context().counters.permit_connections == 0);
}

TEST_CASE("a caller that sends far too much gets the whole answer") {
    constexpr std::size_t size = 6 * 1024 * 1024; // more than the sockets between them take
    InProcessGateway gateway{many};
    Wire caller = gateway.connect_for_permits();
    caller.send(
        "POST /v1/limits/many/take HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
        std::to_string(size) + "\r\n\r\n");
    CHECK(has(read_answer(caller), "413"));
    gateway.send_in_time(caller, std::string(size, ' '));
    caller.shutdown_send();
    caller.wait_closed();
    const auto& open = gateway.context().counters.permit_connections;
    for (int rounds = 0; open > 0 && rounds < 100; ++rounds) {
        gateway.settle();
        gateway.pass(std::chrono::milliseconds{100});
    }
    CHECK(open == 0);
}

TEST_CASE("what is not asked rightly is answered, and the connection goes on") {
    InProcessGateway gateway{many};
    Wire caller = gateway.connect_for_permits();
    CHECK(has(ask(caller, post("/nothing", "")), "404"));
    CHECK(has(ask(caller, "GET /v1/limits/many/take HTTP/1.1\r\nHost: localhost\r\n\r\n"), "405"));
    CHECK(has(ask(caller, post("/v1/limits/many/take", "", "Origin: http://x\r\n")), "403"));
    CHECK(has(ask(caller, take("many")), "200 OK"));
}

TEST_CASE("HTTP/1.0 and Connection: close") {
    InProcessGateway gateway{many};
    Wire old = gateway.connect_for_permits();
    old.send("POST /v1/limits/many/take HTTP/1.0\r\n\r\n");
    CHECK(has(old.read_to_end(), "200 OK"));
    Wire closing = gateway.connect_for_permits();
    closing.send(post("/v1/limits/many/take", "", "Connection: close\r\n"));
    CHECK(has(closing.read_to_end(), "Connection: close"));
}

TEST_CASE("a request that does not come in time is given up") {
    InProcessGateway gateway{many};
    Wire silent = gateway.connect_for_permits();
    Wire slow = gateway.connect_for_permits();
    slow.send("POST /v1");
    Wire idle = gateway.connect_for_permits();
    ask(idle, take("many"));
    gateway.pass(11s);
    silent.wait_closed();
    CHECK(has(slow.read_to_end(), "408"));
    for (int i = 0; i < 2; ++i) { // what still comes is dropped, and resets nothing
        slow.send("/limits");
        gateway.settle();
    }
    CHECK(has(ask(idle, take("many")), "200 OK"));
    gateway.pass(61s);
    idle.wait_closed();
}

TEST_CASE("a host that is not the listener's own is misdirected, and the connection goes on") {
    InProcessGateway gateway{"permits: {address: 127.0.0.1:2, hosts: [Stint, permits.internal]}\n"
                             "limits: {many: {requests: 9, per: 1h}}\nroutes: []"};
    Wire caller = gateway.connect_for_permits();
    const auto with = [&](std::string_view host) {
        const std::string request = "GET /v1/locks HTTP/1.1\r\nHost: ";
        return ask(caller, request + std::string{host} + "\r\n\r\n");
    };
    for (const std::string_view own :
         {"localhost", "127.0.0.1:8082", "[::1]:1", "LOCALHOST:1", "stint:8082",
          "permits.internal"})
        CHECK_MESSAGE(has(with(own), "200 OK"), std::string{own});
    for (const std::string_view other :
         {"evil.example", "127.0.0.1.evil.example", "192.0.2.1", ""}) {
        const std::string refusal = with(other);
        CHECK_MESSAGE(has(refusal, "421 "), std::string{other});
        CHECK(has(refusal, "permits.hosts"));
    }
    CHECK(has(ask(caller, post("/v1/limits/many/take", "", "")), "200 OK"));
}

TEST_CASE("with a token only callers that show it are served") {
    // The fixture's configuration has no folder: the path is absolute.
    const std::string file = "/proc/sys/kernel/ostype"; // "Linux"
    InProcessGateway gateway{
        "permits: {address: 127.0.0.1:2, token_file: " + file +
        "}\nlimits: {many: {requests: 9, per: 1h}}\nroutes: []"};
    Wire caller = gateway.connect_for_permits();
    const auto with = [&](std::string_view fields) {
        return ask(caller, post("/v1/limits/many/take", "", fields));
    };
    const std::string refusal = with("");
    CHECK(has(refusal, "401"));
    CHECK(has(refusal, "WWW-Authenticate: Bearer"));
    CHECK(has(with("Authorization: Bearer linux\r\n"), "401"));
    CHECK(has(with("Authorization: Basic Linux\r\n"), "401"));
    CHECK(has(with("Authorization: Bearer Linux\r\nAuthorization: Bearer Linux\r\n"), "401"));
    CHECK(has(with("Authorization: Bearer Linux\r\n"), "200 OK"));
    CHECK(has(with("authorization: bearer  Linux\r\n"), "200 OK"));
    // No page has it, whatever its name was made to resolve to.
    caller.send(
        "GET /v1/locks HTTP/1.1\r\nHost: stint.internal\r\nAuthorization: Bearer Linux\r\n\r\n");
    CHECK(has(read_answer(caller), "200 OK"));
}

TEST_CASE("a probe learns without a token and by any name whether the listener serves") {
    InProcessGateway gateway{
        "permits: {address: 127.0.0.1:2, token_file: /proc/sys/kernel/ostype}\n"
        "limits: {many: {requests: 9, per: 1h}}\nroutes: []"};
    Wire caller = gateway.connect_for_permits();
    const auto get = [&](std::string_view method, std::string_view path) {
        caller.send(
            std::string{method} + " " + std::string{path} +
            " HTTP/1.1\r\nHost: any.example\r\n\r\n");
        return method == "HEAD" ? caller.read_head() : read_answer(caller);
    };
    CHECK(has(get("GET", "/healthz"), "200 OK"));
    CHECK(has(get("HEAD", "/healthz"), "200 OK"));
    CHECK(has(get("GET", "/readyz"), "200 OK"));
    CHECK(has(get("DELETE", "/healthz"), "405 "));
    CHECK(has(get("GET", "/healthz/"), "401"));

    gateway.context().draining = true;
    CHECK(has(get("GET", "/readyz"), "503 "));
}

TEST_CASE("for want of descriptors an idle caller's connection is closed, and one that lingers") {
    InProcessGateway gateway{many};
    Wire caller = gateway.connect_for_permits();
    SUBCASE("idle") {
        ask(caller, take("many"));
        gateway.pass(1100ms);
    }
    SUBCASE("lingering") {
        caller.send("POST /v1/limits/many/take HTTP/1.1\r\nHost: localhost\r\n"
                    "Content-Length: 99000000\r\n\r\nabc");
        read_answer(caller);
    }
    gateway.settle();

    CHECK(gateway.context().close_idle_connections() == 1);
    caller.wait_closed();
    gateway.settle();

    CHECK(gateway.context().counters.permit_connections == 0);
}

TEST_CASE(
    "for want of descriptors no caller's connection is closed that waits or holds something") {
    InProcessGateway gateway{"permits: {address: 127.0.0.1:2}\nlocks: {a: {}}\n"
                             "limits: {one: {requests: 1, per: 30s}}\nroutes: []"};
    Wire fresh = gateway.connect_for_permits();
    Wire holder = gateway.connect_for_permits();
    ask(holder, post("/v1/locks/a/leases?hold=connection", ""));
    Wire waiter = gateway.connect_for_permits();
    ask(waiter, take("one"));
    waiter.send(take("one", R"({"wait_ms":60000})"));
    gateway.pass(1100ms);
    Wire busy = gateway.connect_for_permits(); // between two requests
    ask(busy, "GET /v1/locks/a HTTP/1.1\r\nHost: localhost\r\n\r\n");
    gateway.settle();

    CHECK(gateway.context().close_idle_connections() == 0);

    CHECK_FALSE(fresh.closed());
    CHECK_FALSE(busy.closed());
    CHECK(has(ask(holder, "GET /v1/locks/a HTTP/1.1\r\nHost: localhost\r\n\r\n"), "200 OK"));
    CHECK_FALSE(waiter.closed());
}

TEST_CASE("a caller that lingers makes no room while its connection holds something") {
    InProcessGateway gateway{"permits: {address: 127.0.0.1:2}\nlocks: {a: {}}\nroutes: []"};
    Wire holder = gateway.connect_for_permits();
    ask(holder, post("/v1/locks/a/leases?hold=connection", ""));
    holder.send("POST /v1/locks/a/leases HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                "99000000\r\n\r\nabc");
    CHECK(has(read_answer(holder), "413"));
    gateway.settle();

    CHECK(gateway.context().close_idle_connections() == 0);
    CHECK_FALSE(gateway.context().shed_lingering());

    Wire other = gateway.connect_for_permits();
    CHECK(has(ask(other, post("/v1/locks/a/leases", "")), "409"));
}

TEST_CASE("an empty line behind a request begins no other one: a lease stays with its connection") {
    InProcessGateway gateway{"permits: {address: 127.0.0.1:2}\nlocks: {a: {}}\nroutes: []"};
    Wire holder = gateway.connect_for_permits();
    ask(holder, post("/v1/locks/a/leases?hold=connection", "") + "\r\n");

    gateway.pass(11s); // the time for a head
    gateway.pass(11s);

    CHECK_FALSE(holder.closed());
    Wire other = gateway.connect_for_permits();
    CHECK(has(ask(other, post("/v1/locks/a/leases", "")), "409"));
    CHECK(has(ask(holder, "GET /v1/locks/a HTTP/1.1\r\nHost: localhost\r\n\r\n"), "200 OK"));
}

TEST_CASE("a refusal that its caller takes late is sent to its end") {
    InProcessGateway gateway{many};
    Wire caller = gateway.connect_for_permits();
    std::string requests;
    for (int i = 0; i < 50'000; ++i)
        requests += "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";
    requests += "POST /v1/limits/many/take HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                "99000000\r\n\r\n";
    gateway.send_in_time(caller, requests); // replies fill what the caller does not read
    std::size_t answers = 0;
    std::string answer;
    for (; !has(answer, " 413 "); ++answers)
        answer = read_answer(caller);
    CHECK(answers == 50'001);
    CHECK(has(answer, "larger than 64 KiB"));
}
