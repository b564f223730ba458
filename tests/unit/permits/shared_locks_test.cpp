// Locks that gateways share, through the permit service: the test is their store.
#include "fake_shares.hpp"
#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace stint;
using namespace stint::test;
using namespace std::chrono_literals;

constexpr std::string_view yaml = "permits: {address: 127.0.0.1:2}\nroutes: []";

std::string request(std::string_view method, std::string_view path, std::string_view body = "") {
    std::string text{method};
    text.append(" ").append(path).append(" HTTP/1.1\r\nHost: localhost\r\nContent-Length: ");
    return text.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
}

std::string acquire(std::string_view body = "") {
    return request("POST", "/v1/locks/jobs/leases", body);
}

std::string path_of(std::string_view answer) {
    const std::size_t at = answer.find(R"("lease":"l_)");
    REQUIRE(at != std::string_view::npos);
    return "/v1/locks/jobs/leases/" + std::string{answer.substr(at + 9, 34)};
}

// A gateway that shares the lock `jobs` with others.
class Sharing {
  public:
    explicit Sharing(Duration timeout = 1h) {
        declare(std::make_shared<const locks::LockStore>(
            locks::LockStore{.name = "main", .terms = {.store = store, .timeout = timeout}}));
        const auto lock = gateway.locks().obtain("jobs", 1, net::read_clocks());
        limit = std::get<locks::LockPtr>(lock)->limit();
        leases().begin(1, 60s);
        FakeShares::begin(*limit);
    }
    void declare(const locks::LockStorePtr& shared) {
        gateway.locks().configure(
            {{.name = "jobs", .max = 1, .max_waiting = 9, .store = shared}}, 9, 9,
            net::read_clocks());
    }
    limits::LeaseCover& leases() { return limit->share_policy().leases(); }
    // Counts a slot for this gateway, with these fencing numbers.
    void grant(std::uint64_t first, std::uint64_t count = limits::LeaseCover::block) {
        leases().add_fences(first, count);
        leases().cover(1, 60s, true);
        FakeShares::set(*limit, 1, net::read_clocks());
        store->grant(1, net::read_clocks());
        gateway.settle();
        open();
    }
    [[nodiscard]] std::string answer_to(std::string_view text) {
        Wire wire = gateway.connect_for_permits();
        return stint::test::ask(wire, text);
    }
    // Opens the queue for its waiters, as its timer does.
    void open() {
        (void)gateway.room().room().open(net::read_clocks());
        gateway.settle();
    }
    [[nodiscard]] std::uint64_t in_flight() const { return limit->in_flight(); }

    std::shared_ptr<FakeShares> store = std::make_shared<FakeShares>();
    InProcessGateway gateway{yaml};
    limits::LimitPtr limit;
};

} // namespace

TEST_CASE("a call for a shared lock waits for the store, and is answered by what that says") {
    for (const int how : {0, 1, 2}) {
        CAPTURE(how);
        Sharing test;
        Wire wire = test.gateway.connect_for_permits();
        wire.send(acquire());
        test.gateway.settle();
        REQUIRE(wire.received().empty());
        REQUIRE(test.store->asked.size() == 1);
        if (how == 0)
            test.grant(7000);
        else if (how == 1)
            test.store->refuse(net::read_clocks());
        else
            test.store->fail();
        test.gateway.settle();
        const std::string answer = read_answer(wire);
        CHECK(has(answer, how == 0 ? "201 Created" : how == 1 ? "409 Conflict" : "503 Service"));
        if (how == 0)
            CHECK(has(answer, R"("fence":7000,)"));
        CHECK(test.gateway.context().shares.waiting() == 0);
    }
}

TEST_CASE("a call for a shared lock waits no longer than the store's timeout") {
    Sharing test{1ms};
    Wire wire = test.gateway.connect_for_permits();
    wire.send(acquire());
    test.gateway.run_until([&] { return !wire.received().empty(); });
    CHECK(has(read_answer(wire), "503 Service Unavailable"));
}

TEST_CASE("a call that may wait is queued at once, and woken when the share grows") {
    Sharing test;
    Wire wire = test.gateway.connect_for_permits();
    wire.send(acquire(R"({"wait_ms":60000})"));
    test.gateway.settle();
    CHECK(test.store->asked.size() == 1);
    CHECK(test.limit->waiting() == 1);
    test.store->refuse(net::read_clocks()); // held elsewhere
    test.gateway.settle();
    REQUIRE(wire.received().empty());
    test.grant(7000);
    CHECK(has(read_answer(wire), "201 Created"));
}

TEST_CASE("a caller that leaves while the store is asked is granted nothing") {
    for (const std::string_view body : {"", R"({"wait_ms":60000})"}) {
        Sharing test;
        Wire wire = test.gateway.connect_for_permits();
        wire.send(acquire(body));
        test.gateway.settle();
        REQUIRE(test.store->asked.size() == 1);
        wire.close();
        test.gateway.settle();
        test.gateway.settle();
        CHECK(test.limit->waiting() == 0);
        test.grant(7000);
        CHECK(test.in_flight() == 0);
        CHECK(test.gateway.context().shares.waiting() == 0);
    }
}

TEST_CASE("a grant waits for fencing numbers, and keeps its slot meanwhile") {
    Sharing test;
    test.grant(7000, 1);
    const std::string first = test.answer_to(acquire());
    CHECK(has(first, R"("fence":7000,)"));
    CHECK(test.store->asked.size() == 1); // as the block has run low
    CHECK(has(test.answer_to(request("DELETE", path_of(first))), "204"));
    test.store->fail();
    test.gateway.settle();
    Wire wire = test.gateway.connect_for_permits();
    wire.send(acquire());
    test.gateway.settle();
    REQUIRE(wire.received().empty());
    CHECK(test.in_flight() == 1);
    REQUIRE(test.store->asked.size() == 1);
    test.grant(8000);
    CHECK(has(read_answer(wire), R"("fence":8000,)"));
}

TEST_CASE("a caller that leaves while its grant waits for fencing numbers frees the slot") {
    Sharing test;
    test.grant(7000, 0);
    Wire wire = test.gateway.connect_for_permits();
    wire.send(acquire(R"({"wait_ms":60000})"));
    test.gateway.settle();
    CHECK(test.in_flight() == 1);
    wire.close();
    test.gateway.settle();
    test.gateway.settle();
    CHECK(test.in_flight() == 0);
}

TEST_CASE("a renewal that the store does not cover gets 503, and changes nothing") {
    Sharing test;
    test.grant(7000);
    const std::string granted = test.answer_to(acquire());
    test.leases().cover_at_most(0);
    CHECK(has(test.answer_to(request("PUT", path_of(granted))), "503 Service Unavailable"));
    CHECK(test.in_flight() == 1);
    test.leases().cover(1, 60s, true);
    CHECK(has(test.answer_to(request("PUT", path_of(granted))), "200 OK"));
}

TEST_CASE("a request that waits for a lock goes on waiting for the shared one that replaces it") {
    Sharing test;
    test.declare(nullptr);
    (void)test.gateway.locks().expire({net::read_steady_clock() + 61s, {}}); // others' leases
    const std::string granted = test.answer_to(acquire());
    REQUIRE(has(granted, "201 Created"));
    Wire waiter = test.gateway.connect_for_permits();
    waiter.send(acquire(R"({"wait_ms":60000})"));
    test.gateway.settle();
    test.declare(std::make_shared<const locks::LockStore>(
        locks::LockStore{.name = "main", .terms = {.store = test.store, .timeout = 1h}}));
    test.open();
    test.gateway.settle();
    REQUIRE(waiter.received().empty());
    CHECK(test.limit->waiting() == 1);
    CHECK(test.in_flight() == 1);
    test.grant(std::uint64_t{1} << 52U);
    CHECK(has(test.answer_to(request("DELETE", path_of(granted))), "204"));
    test.open();
    CHECK(has(read_answer(waiter), "201 Created"));
}

TEST_CASE(
    "a call that holds a slot and waits for a number goes on with the lock that replaces its own") {
    Sharing test;
    test.grant(7000, 0); // a slot, and no numbers
    Wire wire = test.gateway.connect_for_permits();
    wire.send(acquire());
    test.gateway.settle();
    REQUIRE(wire.received().empty());
    CHECK(test.in_flight() == 1);
    const auto next = std::make_shared<FakeShares>(); // the same store with other settings
    test.declare(std::make_shared<const locks::LockStore>(
        locks::LockStore{.name = "main", .terms = {.store = next, .timeout = 1h}}));
    test.store->fail();
    test.gateway.settle();
    REQUIRE(wire.received().empty());
    CHECK(test.in_flight() == 1);
    CHECK(next->asked.size() == 1);
    test.leases().add_fences(8000, limits::LeaseCover::block);
    next->grant(1, net::read_clocks());
    test.gateway.settle();
    CHECK(has(read_answer(wire), R"("fence":8000,)"));
}

TEST_CASE("a shared lock shows its store and its share") {
    Sharing test;
    test.grant(7000);
    const std::string shown = test.answer_to(request("GET", "/v1/locks/jobs"));
    CHECK(has(shown, R"("declared":true,"shared":"main","share":1,"fence":)"));
}
