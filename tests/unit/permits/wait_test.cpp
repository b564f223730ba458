#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

using namespace stint;
using namespace stint::test;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view soon =
    "permits: {address: 127.0.0.1:2}\n"
    "limits: {soon: {requests: 1, per: 50ms}, late: {requests: 1, per: 1h}}\nroutes: []";

// Until the waiting request has been let go.
std::string read_waiting_answer(InProcessGateway& gateway, Wire& wire) {
    gateway.run_until([&] {
        gateway.let_go();
        return !wire.received().empty();
    });
    return read_answer(wire);
}

} // namespace

TEST_CASE("a take waits for its turn") {
    InProcessGateway gateway{soon};
    Wire caller = gateway.connect_for_permits();
    ask(caller, take("soon"));
    caller.send(take("soon", R"({"wait_ms":1000})"));
    gateway.settle();
    const std::string answer = read_waiting_answer(gateway, caller);
    CHECK(has(answer, R"({"granted":true,"limit":1,"remaining":0)"));
    CHECK(!has(answer, R"("waited_ms":0})"));
    CHECK(has(ask(caller, take("late")), "200 OK"));
}

TEST_CASE("a take whose turn would not come in time is refused at once") {
    InProcessGateway gateway{soon};
    Wire caller = gateway.connect_for_permits();
    ask(caller, take("late"));
    const std::string refusal = ask(caller, take("late", R"({"wait_ms":1000})"));
    CHECK(has(refusal, "429"));
    CHECK(has(refusal, "Retry-After: 3600"));
    CHECK(gateway.limit("late").waiting() == 0);
}

TEST_CASE("an answer that had to wait is its caller's, whatever the worker writes beside it") {
    InProcessGateway gateway{soon};
    Wire caller = gateway.connect_for_permits();
    Wire other = gateway.connect();
    ask(caller, take("soon"));
    for (int round = 0; round < 10; ++round) {
        caller.send(take("soon", R"({"wait_ms":1000})") + take("late", R"({"cost":0})"));
        gateway.settle();
        other.send("GET /other HTTP/1.1\r\nHost: a\r\n\r\n");
        CHECK(has(read_waiting_answer(gateway, caller), R"("limit":1,"remaining":0)"));
        CHECK(has(read_answer(caller), R"("remaining":1)"));
        CHECK(has(read_answer(other), "404"));
        gateway.settle();
        CHECK(caller.received().empty());
    }
}

TEST_CASE("answers come in the order of the requests, also behind one that waits") {
    InProcessGateway gateway{soon};
    Wire caller = gateway.connect_for_permits();
    caller.send(take("soon") + take("soon", R"({"wait_ms":1000})") + take("late", R"({"cost":0})"));
    CHECK(has(read_answer(caller), R"("waited_ms":0)"));
    CHECK(has(read_waiting_answer(gateway, caller), R"("limit":1,"remaining":0)"));
    CHECK(has(read_answer(caller), R"("remaining":1)"));
}

TEST_CASE("a caller that leaves while it waits loses its place and costs nothing") {
    InProcessGateway gateway{soon};
    Wire first = gateway.connect_for_permits();
    ask(first, take("soon"));
    {
        Wire leaving = gateway.connect_for_permits();
        leaving.send(take("soon", R"({"wait_ms":1000})"));
        gateway.settle();
        CHECK(gateway.limit("soon").waiting() == 1);
    }
    gateway.settle();
    CHECK(gateway.limit("soon").waiting() == 0);
    first.send(take("soon", R"({"wait_ms":1000})"));
    CHECK(has(read_waiting_answer(gateway, first), "200 OK"));
}

TEST_CASE("no caller overtakes one that waits") {
    InProcessGateway gateway{soon};
    Wire first = gateway.connect_for_permits();
    ask(first, take("soon"));
    first.send(take("soon", R"({"wait_ms":1000})"));
    gateway.settle();
    std::this_thread::sleep_for(60ms); // the window is over, and the first has not been let go
    Wire second = gateway.connect_for_permits();
    CHECK(has(ask(second, take("soon")), "429"));
    CHECK(has(read_waiting_answer(gateway, first), "200 OK"));
}

TEST_CASE("a batch that waited is what there is then") {
    InProcessGateway gateway{
        "permits: {address: 127.0.0.1:2}\nlimits: {five: {requests: 5, per: 50ms}}\nroutes: []"};
    Wire caller = gateway.connect_for_permits();
    CHECK(has(ask(caller, take("five", R"({"batch":9})")), R"("count":5)"));
    caller.send(take("five", R"({"batch":3,"wait_ms":1000})"));
    CHECK(has(read_waiting_answer(gateway, caller), R"("count":3)"));
}

TEST_CASE("a caller that has hung up when its turn comes is charged nothing") {
    InProcessGateway gateway{
        "permits: {address: 127.0.0.1:2}\n"
        "limits: {soon: {requests: 1, per: 50ms}, hour: {requests: 9, per: 1h}}\nroutes: []"};
    Wire first = gateway.connect_for_permits();
    ask(first, take("soon"));
    Wire second = gateway.connect_for_permits();
    second.send(
        post("/v1/limits/take", R"({"limits":[{"name":"soon"},{"name":"hour"}],"wait_ms":1000})"));
    gateway.settle();
    REQUIRE(gateway.limit("soon").waiting() == 1);
    while (gateway.limit("soon").waiting() == 1) {
        std::this_thread::sleep_for(5ms);
        gateway.let_go(); // its worker does not hear of it
    }

    SUBCASE("it has closed its connection") {
        second.close();
    }
    SUBCASE("it has closed its sending side") {
        second.shutdown_send();
    }
    SUBCASE("it was reset") {
        second.reset();
    }
    gateway.settle();

    CHECK(gateway.limit("hour").state_of({.quota = 9}, net::read_clocks()).used == 0);
}

TEST_CASE("a take that cannot wait pushes no waiter out") {
    InProcessGateway gateway{
        "permits: {address: 127.0.0.1:2}\n"
        "limits:\n"
        "  few: {requests: 1, per: 1m, when_exceeded: wait, max_waiting: 2, max_wait: 1h}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [few]}]"};
    Wire taker = gateway.connect_for_permits();
    ask(taker, take("few"));
    Wire one = gateway.connect();
    Wire two = gateway.connect();
    for (Wire* const waiter : {&one, &two}) {
        waiter->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        gateway.settle();
    }
    REQUIRE(gateway.limit("few").waiting() == 2);

    CHECK(has(ask(taker, take("few", R"({"owner":"another"})")), "429"));
    CHECK(has(ask(taker, take("few", R"({"owner":"another","wait_ms":1000})")), "429"));

    CHECK(gateway.limit("few").waiting() == 2);
    CHECK(two.received() == "");
}

TEST_CASE("two that are let in together get their own answers, and those to what they sent since") {
    InProcessGateway gateway{
        "permits: {address: 127.0.0.1:2}\nlimits: {pool: {requests: 2, per: 50ms}, "
        "ka: {requests: 9, per: 1h}, kb: {requests: 9, per: 1h}}\nroutes: []"};
    Wire a = gateway.connect_for_permits();
    Wire b = gateway.connect_for_permits();
    a.send(take("pool") + take("pool"));
    read_answer(a);
    read_answer(a);
    a.send(take("pool", R"({"wait_ms":1000,"owner":"a"})"));
    b.send(take("pool", R"({"wait_ms":1000,"owner":"b"})"));
    gateway.settle();
    a.send(take("ka") + take("ka"));
    b.send(take("kb"));
    gateway.settle();

    CHECK(has(read_waiting_answer(gateway, a), R"("limit":2)"));
    CHECK(has(read_waiting_answer(gateway, b), R"("limit":2)"));
    CHECK(has(read_answer(a), R"("remaining":8)"));
    CHECK(has(read_answer(a), R"("remaining":7)"));
    CHECK(has(read_answer(b), R"("remaining":8)"));
    gateway.settle();
    CHECK(a.received().empty());
    CHECK(b.received().empty());
}
