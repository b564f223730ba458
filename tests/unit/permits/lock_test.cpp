#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace stint;
using namespace stint::test;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view terms = "permits: {address: 127.0.0.1:2}\nroutes: []";

std::string request(std::string_view method, std::string_view path, std::string_view body = "") {
    std::string text{method};
    text.append(" ").append(path).append(" HTTP/1.1\r\nHost: localhost\r\nContent-Length: ");
    return text.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
}

std::string acquire(std::string_view lock, std::string_view body = "", std::string_view how = "") {
    return request("POST", "/v1/locks/" + std::string{lock} + "/leases" + std::string{how}, body);
}

std::string lease_of(std::string_view answer) {
    const std::size_t at = answer.find(R"("lease":"l_)");
    REQUIRE(at != std::string_view::npos);
    return std::string{answer.substr(at + 9, 34)};
}

std::string path_of(std::string_view lock, std::string_view lease) {
    return "/v1/locks/" + std::string{lock} + "/leases/" + std::string{lease};
}

std::uint64_t held(InProcessGateway& gateway, std::string_view lock) {
    const auto state = gateway.locks().state_of(lock, net::read_clocks());
    return state ? state->held : 0;
}

std::uint64_t waiting(InProcessGateway& gateway, std::string_view lock) {
    const auto state = gateway.locks().state_of(lock, net::read_clocks());
    return state ? state->waiting : 0;
}

} // namespace

TEST_CASE("a lease is granted, renewed and released") {
    InProcessGateway gateway{terms};
    Wire caller = gateway.connect_for_permits();

    const std::string granted = ask(caller, acquire("a", R"({"owner":"anna","ttl_ms":5000})"));

    CHECK(has(granted, "HTTP/1.1 201 Created\r\n"));
    CHECK(has(granted, R"("lock":"a","fence":)"));
    CHECK(has(granted, R"("max":1,"count":1,"expires_in_ms":5000,"waited_ms":0})"));
    const std::string lease = lease_of(granted);
    CHECK(has(granted, "Location: " + path_of("a", lease) + "\r\n"));
    const std::string renewed =
        ask(caller, request("PUT", path_of("a", lease), R"({"ttl_ms":60000})"));
    CHECK(has(renewed, "200 OK"));
    CHECK(has(renewed, R"("expires_in_ms":60000)"));
    CHECK(has(ask(caller, request("DELETE", path_of("a", lease))), "204 No Content"));
    CHECK(has(ask(caller, request("DELETE", path_of("a", lease))), "204 No Content"));
    CHECK(has(ask(caller, request("PUT", path_of("a", lease))), "410 Gone"));
    CHECK(held(gateway, "a") == 0);
}

TEST_CASE("a request for a held lock is refused, with what there is to know") {
    InProcessGateway gateway{terms};
    Wire caller = gateway.connect_for_permits();
    ask(caller, acquire("a", R"({"max":2,"ttl_ms":400})"));
    ask(caller, acquire("a"));

    const std::string busy = ask(caller, acquire("a", R"({"max":2})"));

    CHECK(has(busy, "409 Conflict"));
    CHECK(has(busy, "Retry-After: 1\r\n"));
    CHECK(has(busy, R"("lock":"a","max":2,"held":2,"retry_after_ms":)"));
    const std::string other = ask(caller, acquire("a", R"({"max":3})"));
    CHECK(has(other, "422 "));
    CHECK(has(other, "max is 2"));
}

TEST_CASE("until the start-up grace is over a lock says so, and for how long") {
    InProcessGateway gateway{
        "permits: {address: 127.0.0.1:2}\nlocks: {a: {}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [{lock: a}]}]"};
    const Now start = net::read_clocks();
    gateway.locks().keep_closed_until(start.steady + 100s, start);
    Wire caller = gateway.connect_for_permits();
    const auto wait_of = [](std::string_view answer, std::string_view name) {
        const std::size_t at = answer.find(name);
        REQUIRE(at != std::string_view::npos);
        return std::stol(std::string{answer.substr(at + name.size(), 12)});
    };

    for (const std::string_view lock : {"a", "b"})
        for (const std::string_view body : {"{}", R"({"wait_ms":1})"}) {
            caller.send(acquire(lock, body));
            gateway.run_until([&] {
                gateway.let_go();
                return !caller.received().empty();
            });
            const std::string refused = read_answer(caller);
            CHECK(has(refused, "409 Conflict"));
            CHECK(wait_of(refused, "Retry-After: ") > 60);
            CHECK(wait_of(refused, "Retry-After-Ms: ") > 60'000);
            CHECK(has(refused, R"("reason":"start_up_grace")"));
            CHECK(has(refused, "who held it before the start is not known"));
        }
    Wire client = gateway.connect();
    const std::string refused = ask(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(has(refused, "429"));
    CHECK(wait_of(refused, "Retry-After: ") > 60);
}

TEST_CASE("waiters get the lock when the holder leaves, in the order of arrival") {
    InProcessGateway gateway{terms};
    Wire holder = gateway.connect_for_permits();
    Wire first = gateway.connect_for_permits();
    Wire second = gateway.connect_for_permits();
    const std::string lease = lease_of(ask(holder, acquire("a")));
    first.send(acquire("a", R"({"wait_ms":10000,"owner":"first"})"));
    gateway.settle();
    second.send(acquire("a", R"({"wait_ms":10000})"));
    gateway.settle();
    CHECK(waiting(gateway, "a") == 2);
    CHECK(has(ask(holder, request("GET", "/v1/locks/a")), R"("waiting":2)"));

    ask(holder, request("DELETE", path_of("a", lease)));
    gateway.open();

    const std::string granted = read_answer(first);
    CHECK(has(granted, "201 Created"));
    CHECK(second.received().empty());
    ask(first, request("DELETE", path_of("a", lease_of(granted))));
    gateway.open();
    CHECK(has(read_answer(second), "201 Created"));
}

TEST_CASE("a holder that waited never believes that it holds longer than it does") {
    InProcessGateway gateway{terms};
    Wire holder = gateway.connect_for_permits();
    Wire waiter = gateway.connect_for_permits();
    const auto number = [](std::string_view answer, std::string_view name) {
        const std::size_t at = answer.find(name);
        REQUIRE(at != std::string_view::npos);
        return std::chrono::milliseconds{
            std::stol(std::string{answer.substr(at + name.size(), 12)})};
    };
    for (int round = 0; round < 20; ++round) {
        const std::string lease = lease_of(ask(holder, acquire("a")));
        const SteadyTime sent = net::read_clocks().steady;
        waiter.send(acquire("a", R"({"wait_ms":10000,"owner":"w"})"));
        gateway.settle();
        ask(holder, request("DELETE", path_of("a", lease)));
        gateway.open();
        const std::string granted = read_answer(waiter);
        const auto told =
            number(granted, R"("waited_ms":)") + number(granted, R"("expires_in_ms":)");
        const Now now = net::read_clocks();
        const auto state = gateway.locks().state_of("a", now);
        REQUIRE(state);
        CHECK(sent + told <= now.steady + state->holders.at(0).expires_in);
        ask(waiter, request("DELETE", path_of("a", lease_of(granted))));
    }
}

TEST_CASE("a waiter that leaves loses its own place and no other") {
    InProcessGateway gateway{terms};
    Wire holder = gateway.connect_for_permits();
    Wire staying = gateway.connect_for_permits();
    const std::string lease = lease_of(ask(holder, acquire("a")));
    {
        Wire leaving = gateway.connect_for_permits();
        leaving.send(acquire("a", R"({"wait_ms":10000})"));
        gateway.settle();
        staying.send(acquire("a", R"({"wait_ms":10000})"));
        gateway.settle();
    }
    gateway.settle();
    CHECK(waiting(gateway, "a") == 1);
    ask(holder, request("DELETE", path_of("a", lease)));
    gateway.open();
    CHECK(has(read_answer(staying), "201 Created"));
}

TEST_CASE("a wait that is over is a refusal") {
    InProcessGateway gateway{terms};
    Wire caller = gateway.connect_for_permits();
    ask(caller, acquire("a"));
    caller.send(acquire("a", R"({"wait_ms":20})"));
    gateway.run_until([&] {
        gateway.let_go();
        return !caller.received().empty();
    });
    CHECK(has(read_answer(caller), "409 Conflict"));
    CHECK(waiting(gateway, "a") == 0);
}

TEST_CASE("a lease that is tied to a connection ends with it, and no other") {
    InProcessGateway gateway{terms};
    Wire other = gateway.connect_for_permits();
    std::string moved;
    {
        Wire caller = gateway.connect_for_permits();
        ask(caller, acquire("a", "", "?hold=connection"));
        ask(caller, acquire("free", ""));
        moved = lease_of(ask(caller, acquire("moved", "", "?hold=connection")));
        const std::string released = lease_of(ask(caller, acquire("b", "", "?hold=connection")));
        ask(caller, request("DELETE", path_of("b", released)));
        CHECK(has(ask(other, request("PUT", path_of("moved", moved) + "?hold=connection")), "200"));
        CHECK(held(gateway, "a") == 1);
    }
    gateway.settle();
    CHECK(held(gateway, "a") == 0);
    CHECK(held(gateway, "free") == 1);
    CHECK(held(gateway, "moved") == 1);
    CHECK(has(ask(other, request("GET", "/v1/locks/moved")), R"("hold":"connection")"));
}

TEST_CASE("a lost answer is asked for again: the same lease, once") {
    InProcessGateway gateway{terms};
    const std::string body = R"({"idempotency_key":"k1","max":2})";
    std::string first;
    {
        Wire caller = gateway.connect_for_permits();
        first = lease_of(ask(caller, acquire("a", body)));
    }
    Wire caller = gateway.connect_for_permits();
    const std::string again = ask(caller, acquire("a", body));
    CHECK(lease_of(again) == first);
    CHECK(has(again, R"("replayed":true)"));
    CHECK(held(gateway, "a") == 1);
}

TEST_CASE("a stream holds its lease for as long as it is listened to") {
    InProcessGateway gateway{terms};
    Wire caller = gateway.connect_for_permits();
    {
        Wire stream = gateway.connect_for_permits();
        stream.send(acquire("a", "", "?hold=stream"));
        CHECK(has(stream.read_head(), "Content-Type: text/event-stream\r\n"));
        CHECK(has(stream.read_until("\n\n"), "event: granted\ndata: {\"lease\":\"l_"));
        gateway.pass(1100ms);
        CHECK(has(stream.read_until("\n\n"), "event: alive\ndata: {\"expires_in_ms\":"));
        CHECK(has(ask(caller, acquire("a")), "409"));
    }
    gateway.settle();
    CHECK(has(ask(caller, acquire("a")), "201"));
}

TEST_CASE("a stream tells that its lease was lost, and ends") {
    InProcessGateway gateway{terms};
    Wire stream = gateway.connect_for_permits();
    stream.send(acquire("a", "", "?hold=stream"));
    stream.read_head();
    const std::string lease = lease_of(stream.read_until("\n\n"));
    const auto id = gateway.locks().list("", net::read_clocks()).locks.at(0).holders.at(0).id;
    REQUIRE(gateway.locks().end("a", id, locks::EndReason::forced, net::read_clocks()));
    gateway.pass(1100ms);
    CHECK(has(stream.read_until("\n\n"), "event: lost\ndata: {\"reason\":\"forced\"}"));
    gateway.pass(2s);
    stream.wait_closed();
}

TEST_CASE("when the gateway ends a connection, its leases live on") {
    InProcessGateway gateway{terms};
    Wire caller = gateway.connect_for_permits();
    ask(caller, acquire("a", "", "?hold=connection"));
    gateway.drain_permits();
    caller.wait_closed();
    CHECK(held(gateway, "a") == 1);
}

TEST_CASE("a silent caller keeps its connection for as long as it holds something") {
    InProcessGateway gateway{"permits: {address: 127.0.0.1:2}\ntimeouts: {idle: 1s}\nroutes: []"};
    Wire caller = gateway.connect_for_permits();
    const std::string lease = lease_of(ask(caller, acquire("a", "", "?hold=connection")));
    gateway.pass(1100ms);
    CHECK_FALSE(caller.closed());
    ask(caller, request("DELETE", path_of("a", lease)));
    gateway.pass(1100ms);
    CHECK(caller.closed());
}

TEST_CASE("a grant is told when it is written, and is none when that fails") {
    InProcessGateway gateway{terms};
    gateway.locks().record([] {});
    Wire caller = gateway.connect_for_permits();
    caller.send(acquire("a"));
    gateway.settle();
    CHECK(caller.received().empty());
    gateway.locks().written(gateway.locks().take_records());
    CHECK(has(read_answer(caller), "201 Created"));

    caller.send(acquire("b"));
    gateway.settle();
    gateway.locks().not_written(gateway.locks().take_records(), net::read_clocks());
    const std::string failed = read_answer(caller);
    CHECK(has(failed, "503 Service Unavailable"));
    CHECK(has(failed, "Retry-After: 1\r\n"));
    CHECK(held(gateway, "b") == 0);
    gateway.locks().record({});
}

TEST_CASE("a caller that leaves before its grant is written has none") {
    InProcessGateway gateway{terms};
    gateway.locks().record([] {});
    {
        Wire caller = gateway.connect_for_permits();
        caller.send(acquire("a"));
        gateway.settle();
        CHECK(held(gateway, "a") == 1);
    }
    gateway.settle();
    CHECK(held(gateway, "a") == 0);
    gateway.locks().record({});
}

TEST_CASE("names of locks are data, or a clean 400") {
    InProcessGateway gateway{terms};
    Wire caller = gateway.connect_for_permits();
    for (const char* const name :
         {"it%27s", "x%27%2C0%29%20%2C%20SLEEP%282%29%20--%20", "Queue", "queue", "Queue%20",
          "t%C3%A4glich", "a%2Fb", "a", "."}) {
        CHECK(has(ask(caller, acquire(name)), "201 Created"));
        CHECK(has(ask(caller, acquire(name)), "409 Conflict"));
    }
    const std::string long_name(1024, 'n');
    CHECK(has(ask(caller, acquire(long_name)), "201 Created"));
    for (const char* const name : {"", "a%0D%0Ab", "a%00", "%FF", "%4", "%7F"})
        CHECK(has(ask(caller, acquire(name)), "400 Bad Request"));
    CHECK(has(ask(caller, acquire(long_name + "n")), "400 Bad Request"));
}

TEST_CASE("what is asked of locks in a wrong way is told so") {
    InProcessGateway gateway{terms};
    Wire caller = gateway.connect_for_permits();
    const auto status = [&](const std::string& request) {
        return ask(caller, request).substr(9, 3);
    };
    CHECK(status(acquire("a", "", "?hold=hands")) == "400");
    CHECK(status(acquire("a", R"({"max":0})")) == "400");
    CHECK(status(acquire("a", R"({"max":2.5})")) == "400");
    CHECK(status(acquire("a", R"({"ttl_ms":60001})")) == "400");
    CHECK(status(acquire("a", R"({"wait_ms":-1})")) == "400");
    CHECK(status(acquire("a", R"({"reentrant":true})")) == "400");
    CHECK(status(acquire("a", R"({"wat":1})")) == "400");
    CHECK(status(acquire("a", R"({"idempotency_key":""})")) == "400");
    CHECK(status(request("GET", "/v1/locks/a/leases")) == "405");
    CHECK(status(request("POST", "/v1/locks")) == "405");
    CHECK(status(request("PUT", path_of("a", "l_1"))) == "400");
    CHECK(status(request("GET", "/v1/locks/nobodys")) == "404");
    CHECK(status(request("GET", "/v1/locks/a/b")) == "404");
    CHECK(status(request("GET", "/v1/locksmith")) == "404");
    const std::string lease = lease_of(ask(caller, acquire("a")));
    CHECK(status(request("DELETE", path_of("a", lease) + "?count=0")) == "400");
    CHECK(status(request("PUT", path_of("a", lease) + "?hold=stream")) == "400");
    CHECK(status(request("PUT", path_of("a", lease), R"({"ttl_ms":0})")) == "400");
    CHECK(status(request("PUT", path_of("b", lease))) == "410");
}

TEST_CASE("a 404 about a lock names it, so that no client takes a proxy's for one") {
    InProcessGateway gateway{terms};
    Wire caller = gateway.connect_for_permits();
    const std::string free = ask(caller, request("GET", "/v1/locks/nobody%20%22s%22"));
    CHECK(has(free, "HTTP/1.1 404 Not Found\r\n"));
    CHECK(has(free, "Content-Type: application/problem+json\r\n"));
    CHECK(has(free, R"("title":"Not Found","status":404,"detail":")"));
    CHECK(has(free, R"("lock":"nobody \"s\""})"));
    CHECK_FALSE(has(ask(caller, request("GET", "/v1/locks/a/b")), R"("lock")"));

    gateway.locks().configure({}, 0, 1000, net::read_clocks());
    for (const std::string& question : {acquire("a"), request("GET", "/v1/locks/a")}) {
        const std::string unknown = ask(caller, question);
        CHECK(has(unknown, "404 Not Found"));
        CHECK(has(unknown, R"("lock":"a"})"));
    }
}
