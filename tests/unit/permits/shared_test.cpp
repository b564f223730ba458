// Limits that gateways share, through the permit service: a store answers at once, later, or not at
// all, and nothing is left over.
#include "fake_shared_counters.hpp"
#include "fixture.hpp"
#include "limits/reservation/reservations.hpp"
#include "net/clock.hpp"
#include "shared_limits.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::test;
using namespace std::chrono_literals;
using Way = FakeSharedCounters::Script::Way;
using limits::OnStoreFailure;

constexpr std::string_view yaml =
    "trusted_proxies: [127.0.0.1]\n"
    "permits: {address: 127.0.0.1:2}\n"
    "limits:\n"
    "  own: {requests: 5, per: 1h}\n"
    "  all: {requests: 3, per: 1h, key: client_ip}\n"
    "  turns: {requests: 1, per: 50ms, when_exceeded: wait, max_wait: 1m}\n"
    "  total: {requests: 9, per: 1h}\n"
    "routes:\n"
    "  - {name: fast, match: {path: /}, upstream: origin, limits: [own, all]}\n"
    "  - {name: slow, match: {path: /slow}, upstream: origin, limits: [turns, total]}\n";

// A gateway that shares the limits `all` and `total` with others.
class Sharing {
  public:
    explicit Sharing(OnStoreFailure on_failure = OnStoreFailure::strict, Duration timeout = 1h) {
        gateway.context().shared_charges = &store.charges;
        share(on_failure, timeout);
    }

    // Shares them in the present configuration.
    void share(OnStoreFailure on_failure, Duration timeout) {
        share_limits(
            *gateway.context().active->snapshot, {"all", "total"},
            {.on_failure = on_failure, .timeout = timeout});
    }

    // The store answers all that is due by then.
    void deliver() {
        store.deliver({net::read_steady_clock() + 2h, {}});
        gateway.settle();
    }
    // The time for an answer is over.
    void expire() {
        store.charges.expire({net::read_steady_clock() + 2h, {}});
        gateway.settle();
    }
    std::uint64_t used(std::string_view name) {
        return gateway.limit(name).state_of({nullptr, {}, 99}, net::read_clocks()).used;
    }
    // What the store counts of a limit, whatever the key.
    std::uint64_t stored(std::string_view name) { return store.used_of_all(gateway.limit(name)); }

    void check_nothing_left() {
        CHECK(used("own") == 0);
        CHECK(stored("all") == 0);
        CHECK(stored("total") == 0);
        CHECK(gateway.limit("turns").waiting() == 0);
        CHECK(store.unanswered() == 0);
        CHECK(store.charges.waiting() == 0);
        CHECK(store.wrong() == 0);
        CHECK(gateway.context().counters.permits_waiting == 0);
    }

    FakeSharedCounters store;
    InProcessGateway gateway{yaml};
};

std::string check(std::string_view uri = "/") {
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
    return {check(), take_both()};
}

bool is_granted(std::string_view answer) {
    return has(answer, "200 OK") && has(answer, R"("granted":true)");
}

// Lets the gateway take a request that has to wait.
void send(Sharing& test, Wire& wire, std::string_view request) {
    wire.send(request);
    test.gateway.settle();
    REQUIRE(wire.received().empty());
}

} // namespace

TEST_CASE("what the store grants within the call is answered at once") {
    for (const std::string& request : both_kinds()) {
        Sharing test;
        Wire caller = test.gateway.connect_for_permits();

        CHECK(is_granted(ask(caller, request)));

        CHECK(test.used("own") == 1);
        CHECK(test.used("all") == 0); // the store counts it
        CHECK(test.stored("all") == 1);
        CHECK(test.store.wrong() == 0);
    }
}

TEST_CASE("what the store grants later is answered then") {
    for (const std::string& request : both_kinds()) {
        Sharing test;
        test.store.script = {.way = Way::late, .delay = 5ms};
        Wire caller = test.gateway.connect_for_permits();
        send(test, caller, request + request);
        CHECK(test.gateway.context().counters.permits_waiting == 1);
        CHECK(test.used("own") == 1);

        test.deliver();
        CHECK(is_granted(read_answer(caller)));
        test.deliver();
        CHECK(is_granted(read_answer(caller))); // in the order of the requests

        CHECK(test.used("own") == 2);
        CHECK(test.stored("all") == 2);
        CHECK(test.store.wrong() == 0);
        CHECK(test.gateway.context().counters.permits_waiting == 0);
    }
}

TEST_CASE("what the store refuses gives the rest back, and names the shared limit") {
    for (const std::string& request : both_kinds())
        for (const Way way : {Way::at_once, Way::late}) {
            CAPTURE(static_cast<int>(way));
            Sharing test;
            test.store.script = {.way = way, .delay = 5ms, .refuse = true};
            Wire caller = test.gateway.connect_for_permits();
            caller.send(request);
            test.gateway.settle();
            test.deliver();

            const std::string refusal = read_answer(caller);

            CHECK(has(refusal, "429"));
            CHECK(has(refusal, "Retry-After: 7\r\n"));
            CHECK(has(refusal, R"("limit":"all")"));
            CHECK(test.gateway.limit("all").refused() == 1);
            test.check_nothing_left();
        }
}

TEST_CASE("a limit of the gateway's own refuses without asking the store") {
    for (const std::string& request : both_kinds()) {
        Sharing test;
        Wire caller = test.gateway.connect_for_permits();
        ask(caller, take("own", R"({"cost":5})"));

        CHECK(has(ask(caller, request), R"("limit":"own")"));

        CHECK(test.stored("all") == 0);
        CHECK(test.store.charges.waiting() == 0);
    }
}

TEST_CASE("a store that does not answer in time leaves each limit to its own policy") {
    struct Row {
        OnStoreFailure on_failure;
        bool has_share;
        std::string_view status;
    };
    for (const std::string& request : both_kinds())
        for (const Way way : {Way::late, Way::lost_before, Way::lost_after})
            for (const Row& row :
                 {Row{OnStoreFailure::open, false, "200"}, Row{OnStoreFailure::closed, true, "503"},
                  Row{OnStoreFailure::strict, false, "503"},
                  Row{OnStoreFailure::share, false, "503"}}) {
                CAPTURE(static_cast<int>(row.on_failure));
                CAPTURE(static_cast<int>(way));
                Sharing test{row.on_failure};
                test.store.script = {.way = way, .delay = 1h};
                Wire caller = test.gateway.connect_for_permits();
                send(test, caller, request);

                test.expire();

                const std::string answer = read_answer(caller);
                CHECK(has(answer, "HTTP/1.1 " + std::string{row.status}));
                CHECK(test.used("own") == (row.status == "200" ? 1 : 0));
                if (row.status != "200")
                    CHECK(has(answer, "Retry-After: 1\r\n"));
                test.deliver(); // too late
                CHECK(test.stored("all") == 0);
                CHECK(test.store.unanswered() == 0);
                CHECK(test.store.wrong() == 0);
            }
}

TEST_CASE("a store that loses its connection has failed, before the time is over") {
    for (const std::string& request : both_kinds())
        for (const Way way : {Way::lost_before, Way::lost_after}) {
            Sharing test;
            test.store.script = {.way = way, .delay = 5ms};
            Wire caller = test.gateway.connect_for_permits();
            send(test, caller, request);

            test.deliver();

            CHECK(has(read_answer(caller), "503"));
            test.check_nothing_left();
        }
}

TEST_CASE("the time for an answer ends by itself") {
    for (const std::string& request : both_kinds()) {
        Sharing test{OnStoreFailure::strict, 1ms};
        test.store.script = {.way = Way::late, .delay = 1h};
        Wire caller = test.gateway.connect_for_permits();
        caller.send(request);

        test.gateway.run_until([&] { return !caller.received().empty(); });

        CHECK(has(read_answer(caller), "503"));
        test.deliver();
        test.check_nothing_left();
    }
}

TEST_CASE("the tick expires requests that have no timer of their own") {
    class Proxied final : public limits::SharedCharges::Request {
      public:
        int answers = 0;

      private:
        void answered() noexcept override { ++answers; }
    };
    Sharing test;
    test.store.script = {.way = Way::late, .delay = 1h};
    const limits::Charge charge{.limit = &test.gateway.limit("total"), .quota = 9};
    const Now now = net::read_clocks();
    Proxied late;
    REQUIRE_FALSE(late.post(test.store.charges, {&charge, 1}, now.steady, now));
    Proxied in_time;
    REQUIRE_FALSE(in_time.post(test.store.charges, {&charge, 1}, now.steady + 1h, now));

    test.gateway.tick_permits();

    CHECK(late.answers == 1);
    CHECK(in_time.answers == 0);
}

TEST_CASE("a caller that leaves before the store answers leaves nothing behind") {
    for (const std::string& request : both_kinds())
        for (const Way way : {Way::late, Way::lost_before, Way::lost_after})
            for (const bool refuse : {false, true}) {
                CAPTURE(static_cast<int>(way));
                CAPTURE(refuse);
                Sharing test;
                test.store.script = {.way = way, .delay = 1h, .refuse = refuse};
                {
                    Wire caller = test.gateway.connect_for_permits();
                    send(test, caller, request);
                    CHECK(test.used("own") == 1);
                }
                test.gateway.settle();
                CHECK(test.used("own") == 0); // at once
                CHECK(test.store.cancelled().size() == 1);
                test.deliver();
                test.check_nothing_left();
            }
}

TEST_CASE("a caller that leaves as the store answers leaves nothing behind") {
    for (const std::string& request : both_kinds()) {
        Sharing test;
        test.store.script = {.way = Way::late, .delay = 5ms};
        {
            Wire caller = test.gateway.connect_for_permits();
            send(test, caller, request);
        }
        test.deliver(); // the end of the connection is read in the same turn of the loop
        test.gateway.settle();
        test.check_nothing_left();
    }
}

TEST_CASE("a request that waited in the queue asks the store then") {
    const std::string take_slow =
        post("/v1/limits/take", R"({"limits":[{"name":"turns"},{"name":"total"}],"wait_ms":9000})");
    for (const std::string& request : {check("/slow"), take_slow})
        for (const bool refuse : {false, true}) {
            CAPTURE(refuse);
            Sharing test;
            Wire caller = test.gateway.connect_for_permits();
            REQUIRE(is_granted(ask(caller, request)));
            send(test, caller, request);
            CHECK(test.gateway.limit("turns").waiting() == 1);
            CHECK(test.stored("total") == 1);

            test.store.script = {.way = Way::late, .delay = 5ms, .refuse = refuse};
            test.gateway.run_until([&] {
                test.gateway.let_go();
                return test.store.unanswered() == 1;
            });
            CHECK(test.gateway.limit("turns").waiting() == 0);
            CHECK(caller.received().empty());
            test.deliver();

            const std::string answer = read_answer(caller);
            CHECK(is_granted(answer) != refuse);
            CHECK(test.stored("total") == (refuse ? 1 : 2));
            if (refuse) {
                CHECK(has(answer, R"("limit":"total")"));
                CHECK(test.used("turns") == 0); // it has its turn back
            }
            CHECK(test.store.wrong() == 0);
        }
}

TEST_CASE("what the store refuses is not queued, whatever the caller would wait") {
    Sharing test;
    test.store.script.refuse = true;
    Wire caller = test.gateway.connect_for_permits();

    CHECK(has(ask(caller, take_both(R"(,"wait_ms":60000)")), "429"));

    CHECK(test.gateway.limit("all").waiting() == 0);
    test.check_nothing_left();
}

TEST_CASE("a caller that leaves in the queue, or behind it, leaves nothing behind") {
    for (const bool behind : {false, true}) {
        CAPTURE(behind);
        Sharing test;
        Wire first = test.gateway.connect_for_permits();
        REQUIRE(is_granted(ask(first, check("/slow"))));
        test.store.script = {.way = Way::late, .delay = 1h};
        {
            Wire leaving = test.gateway.connect_for_permits();
            send(test, leaving, check("/slow"));
            if (behind)
                test.gateway.run_until([&] {
                    test.gateway.let_go();
                    return test.store.unanswered() == 1;
                });
        }
        test.gateway.settle();
        CHECK(test.gateway.limit("turns").waiting() == 0);
        test.deliver();
        CHECK(test.stored("total") == 1);
        CHECK(test.store.wrong() == 0);
        CHECK(test.gateway.context().counters.permits_waiting == 0);
        if (behind)
            CHECK(test.used("turns") == 0);
    }
}

TEST_CASE("a grant tells a shared limit's state as the store has it") {
    Sharing test;
    Wire caller = test.gateway.connect_for_permits();
    ask(caller, take_both());

    const std::string answer = ask(caller, take("all", R"({"key":"192.0.2.1"})"));

    CHECK(has(answer, R"("limit":3,"remaining":1,"reset_ms":7000)"));
}

TEST_CASE("a batch of a shared limit is what the store has left") {
    for (const Way way : {Way::at_once, Way::late}) {
        Sharing test;
        Wire caller = test.gateway.connect_for_permits();
        const std::string batch = take("all", R"({"key":"192.0.2.1","batch":2})");
        CHECK(has(ask(caller, batch), R"("count":2)"));

        test.store.script = {.way = way, .delay = 5ms};
        for (const std::string_view expected : {R"("count":1)", R"("limit":"all")"}) {
            caller.send(batch);
            for (int asked = 0; asked < 5; ++asked) {
                test.gateway.settle();
                test.deliver();
            }
            CHECK(has(read_answer(caller), expected));
            CHECK(test.stored("all") == 3);
            CHECK(test.store.unanswered() == 0);
            CHECK(test.store.wrong() == 0);
        }
    }
}

TEST_CASE("a slot that a call claimed is its owner's again if the store refuses") {
    Sharing test;
    test.gateway.reload("permits: {address: 127.0.0.1:2}\nroutes: []\nlimits:\n"
                        "  booked: {requests: 1, per: 500ms, retry_after: reserve}\n"
                        "  total: {requests: 9, per: 1h}\n");
    test.share(OnStoreFailure::strict, 1h);
    Wire caller = test.gateway.connect_for_permits();
    const std::string request =
        post("/v1/limits/take", R"({"limits":[{"name":"booked"},{"name":"total"}]})");
    REQUIRE(is_granted(ask(caller, request)));
    REQUIRE(has(ask(caller, request), R"("limit":"booked")"));
    limits::Reservations& slots = test.gateway.limit("booked").reservations();
    const auto out = [&] { return slots.out(net::read_steady_clock()); };
    REQUIRE(out() == 1);
    const SteadyTime its_time = net::read_steady_clock() + 500ms;
    test.gateway.run_until([&] { return net::read_steady_clock() > its_time; });

    for (const Way way : {Way::at_once, Way::late}) {
        test.store.script = {.way = way, .delay = 5ms, .refuse = true};
        caller.send(request);
        test.gateway.settle();
        CHECK(slots.claimed() == 0);
        test.deliver();
        CHECK(has(read_answer(caller), R"("limit":"total")"));
        CHECK(slots.claimed() == 0);
        CHECK(out() == 1);
        CHECK(test.used("booked") == 0);
    }
    test.store.script = {};
    CHECK(is_granted(ask(caller, request)));
    CHECK(slots.claimed() == 1);
    CHECK(out() == 0);
    CHECK(test.stored("total") == 2);
}

TEST_CASE("a shared limit cannot be read without a charge") {
    Sharing test;
    Wire caller = test.gateway.connect_for_permits();

    const std::string answer = ask(caller, take("all", R"({"key":"192.0.2.1","cost":0})"));

    CHECK(has(answer, "400 Bad Request"));
    CHECK(has(answer, "counted together with other gateways"));
    test.check_nothing_left();
}

TEST_CASE("a repeated request is replayed, and charged once here and in the store") {
    Sharing test;
    test.store.script = {.way = Way::late, .delay = 5ms};
    Wire caller = test.gateway.connect_for_permits();
    Wire other = test.gateway.connect_for_permits();
    const std::string request = take_both(R"(,"idempotency_key":"k")");
    send(test, caller, request);
    CHECK(has(ask(other, request), "409 Conflict")); // is still being answered
    test.deliver();
    CHECK(is_granted(read_answer(caller)));

    CHECK(has(ask(other, request), R"("replayed":true)"));

    CHECK(test.used("own") == 1);
    CHECK(test.stored("all") == 1);
}

TEST_CASE("a permit pays for a shared limit") {
    Sharing test;
    Wire caller = test.gateway.connect_for_permits();
    const std::string granted = ask(caller, take_both(R"(,"ticket":true)"));
    const std::size_t at = granted.find(R"("permit":")");
    REQUIRE(at != std::string::npos);
    const std::size_t from = at + std::string_view{R"("permit":")"}.size();
    const std::string permit = granted.substr(from, granted.find('"', from) - from);
    CHECK(test.stored("all") == 1);

    std::string shown = check();
    shown.insert(shown.size() - 2, "X-Stint-Permit: " + permit + "\r\n");
    CHECK(is_granted(ask(caller, shown)));

    CHECK(test.used("own") == 1);
    CHECK(test.stored("all") == 1);
}
