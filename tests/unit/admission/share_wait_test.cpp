// Limits that gateways share: a request for which a share is too small waits for the store.
#include "fake_shares.hpp"
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <optional>

using namespace stint;
using namespace stint::admission;
using namespace stint::admission::test;
using limits::OnStoreFailure;
using stint::test::FakeShares;

namespace {

struct Requests final : limits::ShareRequests {
    void notify() noexcept override { ++notified; }
    int notified = 0;
};

// Two limits of this gateway's own, and a window and a cap that are shared.
class Stage {
  public:
    explicit Stage(
        OnStoreFailure on_failure = OnStoreFailure::share,
        std::optional<bool> enforce = true,
        bool enforce_slots = true)
        : gateway{route(on_failure, enforce.value_or(true), enforce.value_or(enforce_slots))} {
        gateway.shares = &requests;
        for (const std::size_t i : {2U, 3U})
            FakeShares::begin(gateway.limit(i));
    }

    LimitedRoute route(OnStoreFailure on_failure, bool enforce, bool enforce_slots) {
        LimitedRoute made;
        made.terms = {window("own", 5), cap("own slots", 5), window("all", 3), cap("slots", 3)};
        for (const std::size_t i : {2U, 3U}) {
            made.terms[i].shared = limits::SharedTerms{store, on_failure, 20ms};
            made.terms[i].enforce = i == 2 ? enforce : enforce_slots;
        }
        made.telling.any = true;
        return made;
    }
    void give(std::uint64_t units, Duration when = 0s) {
        for (const std::size_t i : {2U, 3U})
            FakeShares::set(gateway.limit(i), units, at(when));
    }
    void stop_asking() {
        for (const std::size_t i : {2U, 3U})
            gateway.limit(i).share_policy().set_asking(false);
    }
    void check_nothing_charged(Duration when = 0s) const {
        CHECK(gateway.used(0, when) == 0);
        CHECK(gateway.limit(1).in_flight() == 0);
        CHECK(gateway.used(2, when) == 0);
        CHECK(gateway.limit(3).in_flight() == 0);
    }

    std::shared_ptr<FakeShares> store = std::make_shared<FakeShares>();
    Requests requests;
    Gateway gateway;
};

} // namespace

TEST_CASE("a request for which the shares suffice does not ask the store") {
    Stage stage;
    stage.give(1);
    const Asked asked{stage.gateway, Door::proxy, at(0s)};
    CHECK(asked.next == Next::forward);
    CHECK(stage.store->all_asked == 0);
    CHECK(stage.gateway.used(2) == 1);
    CHECK(stage.gateway.limit(3).in_flight() == 1);
}

TEST_CASE("a request for which a share is too small waits, and nothing is charged meanwhile") {
    Stage stage;
    Asked asked{stage.gateway, Door::proxy, at(0s)};
    CHECK(asked.next == Next::wait_shares);
    CHECK(asked.callbacks.answer_by == at(20ms).steady);
    CHECK(stage.store->asked.size() == 2);
    CHECK(stage.store->asked[0].numbers.quota == 3);
    CHECK(stage.store->asked[0].cost == 1);
    CHECK(stage.requests.waiting() == 1);
    stage.check_nothing_charged();
    CHECK(stage.gateway.limit(2).refused() == 0);

    SUBCASE("the shares have grown") {
        stage.store->grant(2, at(1ms));
        CHECK(stage.requests.notified == 1);
        CHECK(asked.callbacks.answers == 0); // not within the store's call
        stage.requests.deliver();
        CHECK(asked.callbacks.answers == 1);
        (void)asked.admission.resume(at(1ms));
        CHECK(asked.admission.finish_shares() == Next::forward);
        CHECK(stage.gateway.used(0) == 1);
        CHECK(stage.gateway.used(2) == 1);
        CHECK(stage.gateway.limit(3).in_flight() == 1);
    }
    SUBCASE("there is no more") {
        stage.store->refuse(at(1ms));
        stage.requests.deliver();
        (void)asked.admission.resume(at(1ms));
        CHECK(asked.admission.finish_shares() == Next::reply);
        CHECK(asked.admission.ending().status == 429);
        CHECK(asked.admission.reply().limit() == "all");
        CHECK(asked.callbacks.log == "begin, refused all");
        stage.check_nothing_charged(1ms);

        const Asked again{stage.gateway, Door::proxy, at(2ms)}; // the store has said so
        CHECK(again.next == Next::reply);
        CHECK(again.admission.ending().status == 429);
        CHECK(stage.store->all_asked == 2);
        CHECK(stage.gateway.limit(2).share({}, at(2ms)).demand.wanted_at == at(2ms).steady);
    }
    SUBCASE("another request was faster") {
        stage.store->grant(1, at(1ms));
        stage.requests.deliver();
        const Asked other{stage.gateway, Door::proxy, at(1ms)};
        CHECK(other.next == Next::forward);
        (void)asked.admission.resume(at(1ms));
        CHECK(asked.admission.finish_shares() == Next::reply); // does not ask twice
        CHECK(asked.admission.ending().status == 429);
        CHECK(stage.store->all_asked == 2);
    }
    SUBCASE("the store fails, or does not answer in time") {
        bool tells = false;
        SUBCASE("fails") {
            tells = true;
        }
        SUBCASE("in time") {}
        if (tells)
            stage.store->fail();
        stage.requests.deliver();
        CHECK(asked.callbacks.answers == (tells ? 1 : 0));
        (void)asked.admission.resume(at(20ms));
        CHECK(asked.admission.finish_shares() == Next::reply);
        CHECK(asked.admission.ending().status == 503);
        CHECK(asked.admission.reply().retry_after() == Duration{1s});
        stage.check_nothing_charged(20ms);
        CHECK(stage.requests.waiting() == 0);
        stage.store->grant(2, at(30ms)); // too late, and harmless
        stage.requests.deliver();
        const Asked later{stage.gateway, Door::proxy, at(31ms)};
        CHECK(later.next == (tells ? Next::wait_shares : Next::forward));
    }
}

TEST_CASE("a request that ends during its wait leaves nothing behind") {
    for (const bool answered : {false, true}) {
        CAPTURE(answered);
        Stage stage;
        std::optional<Asked> asked;
        asked.emplace(stage.gateway, Door::proxy, at(0s));
        REQUIRE(asked->next == Next::wait_shares);
        if (answered)
            stage.store->grant(2, at(1ms));
        asked.reset();
        CHECK(stage.requests.waiting() == 0);
        if (!answered)
            stage.store->grant(2, at(1ms));
        stage.requests.deliver();
        stage.check_nothing_charged(1ms);
    }
}

TEST_CASE("the whole number as the share refuses without the store") {
    Stage stage;
    stage.give(3);
    for (int i = 0; i < 5; ++i) {
        const Asked asked{stage.gateway, Door::check, at(0s)};
        CHECK(asked.next == (i < 3 ? Next::forward : Next::reply));
        CHECK(asked.admission.ending().status == (i < 3 ? 200 : 429));
    }
    CHECK(stage.store->all_asked == 0);
}

TEST_CASE("a limit of the gateway's own that refuses, too, asks no store") {
    Stage stage;
    (void)limits::admit(
        std::array{limits::Charge{.limit = &stage.gateway.limit(0), .quota = 5, .cost = 5}},
        at(0s));
    const Asked asked{stage.gateway, Door::proxy, at(0s)};
    CHECK(asked.next == Next::reply);
    CHECK(asked.admission.ending().status == 429);
    CHECK(stage.store->all_asked == 0);
}

TEST_CASE("without a store, each limit's policy decides") {
    struct Row {
        OnStoreFailure on_failure;
        std::uint64_t share;
        int served; // of four requests
        int status; // of those that are not
    };
    const Row rows[] = {
        {OnStoreFailure::share, 0, 0, 503},
        {OnStoreFailure::share, 2, 2, 429},
        {OnStoreFailure::open, 0, 3, 429},
        {OnStoreFailure::open, 2, 3, 429}};
    for (const Row& row : rows)
        for (const bool asks : {false, true}) {
            CAPTURE(static_cast<int>(row.on_failure));
            CAPTURE(row.share);
            CAPTURE(asks); // and gets no answer
            Stage stage{row.on_failure};
            stage.give(row.share);
            if (!asks)
                stage.stop_asking();
            for (int i = 0; i < 4; ++i) {
                Asked asked{stage.gateway, Door::check, at(0s)};
                if (asked.next == Next::wait_shares) {
                    CHECK(asks);
                    (void)asked.admission.resume(at(0s));
                    asked.next = asked.admission.finish_shares();
                }
                CHECK(asked.next == (i < row.served ? Next::forward : Next::reply));
                CHECK(asked.admission.ending().status == (i < row.served ? 200 : row.status));
            }
            CHECK(stage.gateway.used(0) == static_cast<std::uint64_t>(row.served));
            stage.store->fail();
            stage.requests.deliver();
        }
}

TEST_CASE("a dry run does not wait for the store, and counts no refusal that it does not know of") {
    Stage stage{OnStoreFailure::share, false};
    const Asked first{stage.gateway, Door::check, at(0s)};
    CHECK(first.next == Next::forward);
    CHECK(first.callbacks.log == "begin");
    CHECK(first.admission.dry_run().would_refuse.empty());
    REQUIRE(stage.store->asked.size() == 1); // a check leaves the cap out
    stage.store->grant(1, at(1ms));
    stage.requests.deliver();

    const Asked second{stage.gateway, Door::check, at(1ms)};
    CHECK(second.next == Next::forward);
    CHECK(stage.store->asked.empty());
    CHECK(stage.gateway.used(2) == 1);

    const Asked third{stage.gateway, Door::check, at(1ms)};
    REQUIRE(stage.store->asked.size() == 1);
    stage.store->refuse(at(1ms));
    stage.requests.deliver();
    const Asked fourth{stage.gateway, Door::check, at(2ms)};
    CHECK(fourth.callbacks.log == "begin, would refuse all");
    CHECK(stage.store->asked.empty());
}

TEST_CASE("a request that may wait in a queue asks the store before, and then waits for a share") {
    LimitedRoute route;
    auto store = std::make_shared<FakeShares>();
    route.terms = {window("all", 3)};
    route.terms[0].shared = limits::SharedTerms{store, OnStoreFailure::share, 20ms};
    route.terms[0].wait = routing::WaitSettings{.max_wait = 5min, .max_waiting = 10, .fair_by = {}};
    Gateway gateway{std::move(route)};
    Requests requests;
    gateway.shares = &requests;
    FakeShares::begin(gateway.limit(0));

    Asked asked{gateway, Door::proxy, at(0s)};
    REQUIRE(asked.next == Next::wait_shares);
    store->refuse(at(1ms));
    requests.deliver();
    (void)asked.admission.resume(at(1ms));
    REQUIRE(asked.admission.finish_shares() == Next::wait_queue);
    CHECK(gateway.limit(0).waiting() == 1);

    FakeShares::set(gateway.limit(0), 1, at(10ms));
    (void)gateway.waiting.queue.open(at(10ms));
    limits::Waiters decided;
    gateway.waiting.queue.collect(gateway.waiting, decided);
    REQUIRE(decided.size() == 1);
    decided.clear();
    const Duration waited = asked.admission.resume(at(10ms));
    CHECK(asked.admission.finish_queue(*asked.callbacks.queued, waited) == Next::forward);
    CHECK(gateway.used(0, 10ms) == 1);
    asked.callbacks.queued.reset();
}

TEST_CASE("a request behind others in a queue asks for the share of its own key") {
    auto store = std::make_shared<FakeShares>();
    LimitedRoute route;
    route.terms = {window("all", 3, 1min, "x-key")};
    route.terms[0].shared = limits::SharedTerms{store, OnStoreFailure::share, 20ms};
    route.terms[0].wait = routing::WaitSettings{.max_wait = 5min, .max_waiting = 10, .fair_by = {}};
    Gateway gateway{std::move(route)};
    Requests requests;
    gateway.shares = &requests;
    FakeShares::begin(gateway.limit(0));

    Asked first{gateway, Door::proxy, at(0s), "X-Key: a\r\n"};
    REQUIRE(first.next == Next::wait_shares);
    store->refuse(at(1ms));
    requests.deliver();
    (void)first.admission.resume(at(1ms));
    REQUIRE(first.admission.finish_shares() == Next::wait_queue);

    Asked second{gateway, Door::proxy, at(2ms), "X-Key: b\r\n"};
    REQUIRE(second.next == Next::wait_shares);
    CHECK(store->asked.at(0).key_text == "b");
    store->grant(3, at(3ms));
    requests.deliver();
    (void)second.admission.resume(at(3ms));
    const Next next = second.admission.finish_shares();
    CHECK((next == Next::forward || next == Next::wait_queue));
}

TEST_CASE("a dry run does not hold up a request that waits for another limit's share") {
    Stage stage{OnStoreFailure::share, {}, false};
    Asked asked{stage.gateway, Door::proxy, at(0s)};
    REQUIRE(asked.next == Next::wait_shares);
    REQUIRE(stage.store->asked.size() == 1);
    CHECK(stage.store->asked[0].limit->identity().name == "all");
}
