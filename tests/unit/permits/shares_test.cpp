// Limits that gateways share, through the permit service.
#include "fake_shares.hpp"
#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace stint::test;
using namespace std::chrono_literals;
using limits::OnStoreFailure;

constexpr std::string_view yaml =
    "trusted_proxies: [127.0.0.1]\n"
    "permits: {address: 127.0.0.1:2}\n"
    "limits:\n"
    "  own: {requests: 5, per: 1h}\n"
    "  all: {requests: 3, per: 1h, key: client_ip}\n"
    "routes:\n"
    "  - {name: fast, match: {path: /}, upstream: origin, limits: [own, all]}\n";

// A gateway that shares the limit `all` with others.
class Sharing {
  public:
    explicit Sharing(OnStoreFailure on_failure = OnStoreFailure::share, Duration timeout = 1h) {
        share_limits(*gateway.context().active->snapshot, {"all"}, {store, on_failure, timeout});
    }

    void grant(std::uint64_t units) {
        store->grant(units, net::read_clocks());
        gateway.settle();
    }
    void refuse() {
        store->refuse(net::read_clocks());
        gateway.settle();
    }
    void fail() {
        store->fail();
        gateway.settle();
    }
    // Lets the gateway take a request that has to wait for the store.
    void ask(Wire& wire, std::string_view request) {
        const std::size_t before = store->asked.size();
        wire.send(request);
        gateway.settle();
        REQUIRE(wire.received().empty());
        REQUIRE(store->asked.size() == before + 1);
        CHECK(store->asked.back().key_text == "192.0.2.1");
    }
    std::uint64_t used(std::string_view name) {
        return gateway.limit(name).state_of({nullptr, {}, 99}, net::read_clocks()).used;
    }

    std::shared_ptr<FakeShares> store = std::make_shared<FakeShares>();
    InProcessGateway gateway{yaml};
};

std::string check_of(std::string_view uri = "/") {
    std::string request{"GET /v1/check HTTP/1.1\r\nHost: stint\r\nX-Forwarded-Method: GET\r\n"};
    request.append("X-Forwarded-Host: a\r\nX-Forwarded-Uri: ").append(uri);
    return request.append("\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n\r\n");
}

std::string take_both(std::string_view more = "") {
    std::string body{R"({"limits":[{"name":"own"},{"name":"all","key":"192.0.2.1"}])"};
    return post("/v1/limits/take", body.append(more).append("}"));
}

// One request of either kind, to the limits `own` and `all`.
std::vector<std::string> both_kinds() {
    return {check_of(), take_both()};
}

} // namespace

TEST_CASE("a call waits for a share, and is granted or refused by the answer") {
    for (const std::string& request : both_kinds())
        for (const bool more : {false, true}) {
            CAPTURE(request);
            CAPTURE(more);
            Sharing test;
            Wire wire = test.gateway.connect_for_permits();
            test.ask(wire, request);
            CHECK(test.used("own") == 0);
            if (more)
                test.grant(2);
            else
                test.refuse();
            CHECK(has(read_answer(wire), more ? "200 OK" : "429 Too Many Requests"));
            CHECK(test.used("own") == (more ? 1 : 0));
            wire.send(request); // neither asks
            CHECK(has(read_answer(wire), more ? "200 OK" : "429 Too Many Requests"));
            CHECK(test.store->all_asked == 1);
            CHECK(test.gateway.context().shares.waiting() == 0);
        }
}

TEST_CASE("a call whose store fails is left to the limit's policy") {
    for (const std::string& request : both_kinds())
        for (const OnStoreFailure policy : {OnStoreFailure::share, OnStoreFailure::open}) {
            CAPTURE(request);
            CAPTURE(static_cast<int>(policy));
            const bool open = policy == OnStoreFailure::open;
            Sharing test{policy};
            Wire wire = test.gateway.connect_for_permits();
            test.ask(wire, request);
            test.fail();
            const std::string answer = read_answer(wire);
            CHECK(has(answer, open ? "200 OK" : "503 Service Unavailable"));
            CHECK(has(answer, "Retry-After: 1\r\n") == !open);
            CHECK(test.used("own") == (open ? 1 : 0));
        }
}

TEST_CASE("a call's time for the store's answer ends by itself") {
    Sharing test{OnStoreFailure::share, 1ms};
    Wire wire = test.gateway.connect_for_permits();
    wire.send(take_both());
    test.gateway.run_until([&] { return !wire.received().empty(); });
    CHECK(has(read_answer(wire), "503 Service Unavailable"));
    CHECK(test.used("own") == 0);
}

TEST_CASE("a caller that leaves before the store answers leaves nothing behind") {
    for (const std::string& request : both_kinds())
        for (const bool answered : {false, true}) {
            CAPTURE(request);
            CAPTURE(answered);
            Sharing test;
            Wire wire = test.gateway.connect_for_permits();
            test.ask(wire, request);
            if (answered)
                test.store->grant(2, net::read_clocks());
            wire.close();
            test.gateway.settle();
            test.gateway.settle();
            CHECK(test.gateway.context().shares.waiting() == 0);
            CHECK(test.gateway.context().counters.permits_waiting == 0);
            if (!answered) {
                test.grant(2);
                CHECK(test.used("own") == 0);
            }
        }
}

TEST_CASE("a call that would wait in the queue asks the store before") {
    Sharing test;
    Wire wire = test.gateway.connect_for_permits();
    test.ask(wire, take_both(R"(,"wait_ms":5000)"));
    test.refuse();
    CHECK(wire.received().empty() == false); // its turn would come in an hour
    CHECK(has(read_answer(wire), "429 Too Many Requests"));
}

TEST_CASE("a batch is what the share has left") {
    Sharing test;
    Wire wire = test.gateway.connect_for_permits();
    const std::string batch = post("/v1/limits/all/take", R"({"key":"192.0.2.1","batch":5})");
    test.ask(wire, batch);
    test.grant(2);
    CHECK(has(read_answer(wire), R"("count":2)"));
}
