// Limits that gateways share: a store answers for them, at once, later, or not at all.
#include "fake_shared_counters.hpp"
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace stint;
using namespace stint::admission;
using namespace stint::admission::test;
using Way = stint::test::FakeSharedCounters::Script::Way;
using limits::OnStoreFailure;

namespace {

routing::LimitTerms
shared(routing::LimitTerms limit, OnStoreFailure on_failure = OnStoreFailure::share) {
    limit.shared = limits::SharedTerms{.on_failure = on_failure, .reserve = {2, 0}};
    return limit;
}

// A limit of this gateway's own, a cap of its own, and a window and a cap that are shared.
LimitedRoute mixed(OnStoreFailure on_failure = OnStoreFailure::share) {
    LimitedRoute route;
    route.terms = {
        window("own", 5), cap("own slots", 5), shared(window("all", 3), on_failure),
        shared(cap("all slots", 3), on_failure)};
    route.telling.any = true;
    return route;
}

class Stage {
  public:
    explicit Stage(LimitedRoute route = mixed()) : gateway{std::move(route)} {
        gateway.shared = &store.charges;
    }

    // Nothing is charged, here or in the store.
    void check_nothing_left(Duration when) const {
        CHECK(gateway.used(0, when) == 0);
        CHECK(gateway.limit(1).in_flight() == 0);
        CHECK(store.used(gateway.limit(2)) == 0);
        CHECK(store.used(gateway.limit(3)) == 0);
        CHECK(gateway.limit(2).in_flight() == 0);
        CHECK(store.unanswered() == 0);
        CHECK(store.wrong() == 0);
    }

    stint::test::FakeSharedCounters store;
    Gateway gateway;
};

} // namespace

TEST_CASE("what the store grants within the call is charged with the rest") {
    Stage stage;
    {
        const Asked asked{stage.gateway, Door::proxy, at(0s)};
        CHECK(asked.next == Next::forward);
        CHECK(asked.callbacks.answers == 0);
        CHECK(stage.gateway.used(0) == 1);
        CHECK(stage.gateway.limit(1).in_flight() == 1);
        CHECK(stage.gateway.used(2) == 0); // the store counts it
        CHECK(stage.store.used(stage.gateway.limit(2)) == 1);
        CHECK(stage.store.used(stage.gateway.limit(3)) == 1);
    }
    CHECK(stage.gateway.limit(1).in_flight() == 0);
    CHECK(stage.store.used(stage.gateway.limit(2)) == 1);
    CHECK(stage.store.used(stage.gateway.limit(3)) == 0); // the permit's end gave it back
}

TEST_CASE("what the store refuses gives the rest back, and the reply names the shared limit") {
    Stage stage;
    std::vector<std::unique_ptr<Asked>> taken;
    for (int i = 0; i < 3; ++i)
        taken.push_back(std::make_unique<Asked>(stage.gateway, Door::proxy, at(0s)));

    Asked refused{stage.gateway, Door::proxy, at(1s)};

    CHECK(refused.next == Next::reply);
    CHECK(refused.admission.status() == 429);
    CHECK(refused.admission.reply().limit() == "all");
    CHECK(refused.admission.reply().retry_after() == 7s);
    CHECK(refused.callbacks.log == "begin, refused all");
    CHECK(stage.gateway.used(0) == 3);
    CHECK(stage.gateway.limit(1).in_flight() == 3);
    CHECK(stage.gateway.limit(2).refused() == 1);
}

TEST_CASE("a limit of the gateway's own refuses without asking the store") {
    Stage stage;
    std::vector<std::unique_ptr<Asked>> taken;
    stage.gateway.shared = nullptr;
    for (int i = 0; i < 5; ++i)
        (void)limits::admit(
            std::vector<limits::Charge>{{.limit = &stage.gateway.limit(0), .quota = 5}}, at(0s));
    stage.gateway.shared = &stage.store.charges;

    Asked refused{stage.gateway, Door::proxy, at(1s)};

    CHECK(refused.next == Next::reply);
    CHECK(refused.admission.reply().limit() == "own");
    CHECK(stage.store.used(stage.gateway.limit(2)) == 0);
}

TEST_CASE("an answer that comes later resumes the request, with the rest charged meanwhile") {
    for (const bool refuse : {false, true}) {
        CAPTURE(refuse);
        Stage stage;
        stage.store.script = {.way = Way::late, .delay = 5ms, .refuse = refuse};
        Asked asked{stage.gateway, Door::proxy, at(0s)};
        REQUIRE(asked.next == Next::wait_shared);
        CHECK(stage.gateway.used(0) == 1);

        stage.store.deliver(at(5ms));
        REQUIRE(asked.callbacks.answers == 1);
        CHECK(asked.admission.resume(at(5ms)) == 5ms);

        CHECK(asked.admission.finish_shared() == (refuse ? Next::reply : Next::forward));
        CHECK(stage.gateway.used(0) == (refuse ? 0 : 1));
        CHECK(stage.gateway.limit(1).in_flight() == (refuse ? 0 : 1));
        CHECK(stage.store.used(stage.gateway.limit(3)) == (refuse ? 0 : 1));
    }
}

TEST_CASE("a client that leaves meanwhile leaves nothing behind, however the store answers") {
    for (const Way way : {Way::late, Way::lost_before, Way::lost_after})
        for (const bool refuse : {false, true})
            for (const bool undone : {false, true}) {
                CAPTURE(static_cast<int>(way));
                CAPTURE(refuse);
                CAPTURE(undone);
                Stage stage;
                stage.store.script = {.way = way, .delay = 50ms, .refuse = refuse};
                {
                    Asked asked{stage.gateway, Door::proxy, at(0s)};
                    REQUIRE(asked.next == Next::wait_shared);
                    if (undone)
                        asked.admission.undo(at(3ms));
                }
                CHECK(stage.gateway.used(0) == 0);
                CHECK(stage.store.cancelled().size() == 1);
                stage.store.deliver(at(50ms)); // a late grant is given back
                stage.check_nothing_left(50ms);
            }
}

TEST_CASE("a client that leaves after the answer, but before it was taken, leaves nothing behind") {
    Stage stage;
    stage.store.script = {.way = Way::late, .delay = 5ms};
    {
        Asked asked{stage.gateway, Door::proxy, at(0s)};
        stage.store.deliver(at(5ms));
        REQUIRE(asked.callbacks.answers == 1);
    }
    stage.check_nothing_left(5ms);
}

TEST_CASE("a store that does not answer in time leaves each limit to its own policy") {
    struct Row {
        OnStoreFailure on_failure;
        bool has_share;
        int admitted;
    };
    for (const Row& row :
         {Row{OnStoreFailure::share, false, 2}, Row{OnStoreFailure::share, true, 1},
          Row{OnStoreFailure::strict, false, 0}, Row{OnStoreFailure::strict, true, 1},
          Row{OnStoreFailure::open, false, 4}, Row{OnStoreFailure::closed, true, 0}}) {
        CAPTURE(static_cast<int>(row.on_failure));
        CAPTURE(row.has_share);
        Stage stage{mixed(row.on_failure)};
        for (const std::size_t i : {2U, 3U})
            if (row.has_share)
                REQUIRE(stage.gateway.limit(i).set_share({}, {{1, 0}, at(1h).steady}, at(0s)));
        stage.store.script = {.way = Way::late, .delay = 50ms};
        std::vector<std::unique_ptr<Asked>> all;
        int admitted = 0;
        for (int i = 0; i < 4; ++i) {
            const auto when = std::chrono::seconds{i};
            Asked& asked =
                *all.emplace_back(std::make_unique<Asked>(stage.gateway, Door::proxy, at(when)));
            REQUIRE(asked.next == Next::wait_shared);
            CHECK(stage.store.charges.expire(at(when + 19ms)) == at(when + 20ms).steady);
            CHECK(asked.callbacks.answers == 0);
            CHECK(stage.store.charges.expire(at(when + 20ms)) == SteadyTime::max());
            REQUIRE(asked.callbacks.answers == 1);
            (void)asked.admission.resume(at(when + 20ms));

            const Next next = asked.admission.finish_shared();

            admitted += next == Next::forward ? 1 : 0;
            stage.store.deliver(at(when + 60ms));
            if (next == Next::forward)
                continue;
            const bool own = row.on_failure == OnStoreFailure::share || row.has_share;
            const bool counted = own && row.on_failure != OnStoreFailure::closed;
            CHECK(asked.admission.status() == (counted ? 429 : 503));
            CHECK(asked.admission.reply().limit() == "all");
            CHECK(asked.admission.reply().retry_after().has_value());
        }
        CHECK(admitted == row.admitted);
        CHECK(stage.gateway.used(0) == static_cast<std::uint64_t>(row.admitted));
        all.clear();
        CHECK(stage.gateway.limit(3).in_flight() == 0);
        CHECK(stage.store.used(stage.gateway.limit(2)) == 0);
        CHECK(stage.store.used(stage.gateway.limit(3)) == 0);
        CHECK(stage.store.wrong() == 0);
    }
}

TEST_CASE("a permit gives its shared slots back by itself, on whatever thread it ends") {
    Stage stage;
    limits::Permit permit;
    {
        Asked asked{stage.gateway, Door::proxy, at(0s)};
        permit = std::move(asked.admission.permit());
    }
    CHECK(stage.store.used(stage.gateway.limit(3)) == 1);

    std::thread{[ending = std::move(permit)] {}}.join();

    CHECK(stage.store.used(stage.gateway.limit(3)) == 0);
    CHECK(stage.gateway.limit(1).in_flight() == 0);
    CHECK(stage.store.wrong() == 0);
}

TEST_CASE("a shared charge is settled and refunded by the response, as any other") {
    LimitedRoute route = mixed();
    route.terms[2].pricing.refund = {503};
    Stage stage{std::move(route)};
    Asked asked{stage.gateway, Door::proxy, at(0s)};
    REQUIRE(asked.next == Next::forward);
    CHECK(stage.store.used(stage.gateway.limit(2)) == 1);

    asked.admission.settlement().settle_end(503, asked.admission.permit(), at(1s));

    CHECK(stage.store.used(stage.gateway.limit(2)) == 0);
    CHECK(stage.gateway.used(0, 1s) == 1); // has no refund
}

TEST_CASE("an admission that is undone after the store has granted it goes back there") {
    Stage stage;
    Asked asked{stage.gateway, Door::proxy, at(0s)};
    REQUIRE(asked.next == Next::forward);
    asked.admission.undo(at(1s));
    stage.check_nothing_left(1s);
}

TEST_CASE("a shared limit that is not enforced refuses nothing, and says what it would") {
    LimitedRoute route = mixed();
    route.terms[2].enforce = false;
    Stage stage{std::move(route)};
    stage.store.script.refuse = false;
    std::vector<std::unique_ptr<Asked>> all;
    for (int i = 0; i < 4; ++i) {
        all.push_back(std::make_unique<Asked>(stage.gateway, Door::proxy, at(0s)));
        if (i < 3)
            all.back()->admission.permit().release(at(0s));
    }
    CHECK(all.back()->next == Next::forward);
    CHECK(all.back()->admission.dry_run().would_refuse == "all");
    all.back()->admission.undo(at(0s)); // what was not charged is not given back
    CHECK(stage.store.used(stage.gateway.limit(2)) == 3);
    CHECK(stage.store.wrong() == 0);
}

TEST_CASE("a request that has waited in the queue asks the store then") {
    LimitedRoute route = mixed();
    route.terms[0].quota = 1;
    route.terms[0].wait.emplace();
    route.terms[0].wait->max_wait = 2min;
    route.terms[0].wait->max_waiting = 10;
    Stage stage{std::move(route)};
    const Asked first{stage.gateway, Door::proxy, at(0s)};
    REQUIRE(first.next == Next::forward);
    Asked second{stage.gateway, Door::proxy, at(20s)};
    REQUIRE(second.next == Next::wait_queue);
    CHECK(stage.store.used(stage.gateway.limit(2)) == 1);

    (void)stage.gateway.waiting.queue.open(at(1min));
    limits::Waiters decided;
    stage.gateway.waiting.queue.collect(stage.gateway.waiting, decided);
    decided.clear();
    stage.store.script = {.way = Way::late, .delay = 5ms};
    const Duration waited = second.admission.resume(at(1min));

    CHECK(second.admission.finish_queue(*second.callbacks.queued, waited) == Next::wait_shared);
    stage.store.deliver(at(1min + 5ms));
    (void)second.admission.resume(at(1min + 5ms));
    CHECK(second.admission.finish_shared() == Next::forward);
    CHECK(stage.store.used(stage.gateway.limit(2)) == 2);
}

TEST_CASE(
    "a slot that was claimed is its client's again if the store refuses, or the client leaves") {
    enum class End { refused_at_once, refused, departed, fenced_off, granted };
    for (const End end :
         {End::refused_at_once, End::refused, End::departed, End::fenced_off, End::granted}) {
        CAPTURE(static_cast<int>(end));
        LimitedRoute route = mixed();
        route.terms[0].quota = 1;
        route.terms[0].reserve_for =
            routing::KeyTemplate{{{routing::KeySource::Kind::client_ip, {}}}};
        route.fence = cap("lock:jobs", 1).limit;
        route.fence->raise_fence(7);
        Stage stage{std::move(route)};
        limits::Reservations& slots = stage.gateway.limit(0).reservations();
        constexpr std::string_view fence = "X-Stint-Fence: 7\r\n";
        (void)Asked{stage.gateway, Door::proxy, at(0s), fence, "PUT /"};
        REQUIRE(Asked{stage.gateway, Door::proxy, at(1s), fence, "PUT /"}.next == Next::reply);
        REQUIRE(slots.out(at(1s).steady) == 1);

        stage.store.script.way = end == End::refused_at_once ? Way::at_once : Way::late;
        stage.store.script.refuse = end == End::refused || end == End::refused_at_once;
        {
            Asked asked{stage.gateway, Door::proxy, at(61s), fence, "PUT /"};
            if (end == End::fenced_off)
                stage.gateway.snapshot.routes.routes().front().fence->raise_fence(8);
            if (end != End::departed && end != End::refused_at_once) {
                CHECK(slots.claimed() == 0);
                stage.store.deliver(at(61s));
                (void)asked.admission.resume(at(61s));
                CHECK(
                    asked.admission.finish_shared() ==
                    (end == End::granted ? Next::forward : Next::reply));
            }
        }
        stage.store.deliver(at(61s));

        const bool granted = end == End::granted;
        CHECK(slots.claimed() == (granted ? 1 : 0));
        CHECK(slots.out(at(61s).steady) == (granted ? 0 : 1));
        CHECK(stage.gateway.used(0, 61s) == (granted ? 1 : 0));
        CHECK(stage.store.wrong() == 0);
    }
}

TEST_CASE("a lock that was given out while the store was asked refuses the request") {
    LimitedRoute route = mixed();
    route.fence = cap("lock:jobs", 1).limit;
    route.fence->raise_fence(7);
    Stage stage{std::move(route)};
    stage.store.script = {.way = Way::late, .delay = 5ms};
    Asked asked{stage.gateway, Door::proxy, at(0s), "X-Stint-Fence: 7\r\n", "PUT /"};
    REQUIRE(asked.next == Next::wait_shared);
    stage.gateway.snapshot.routes.routes().front().fence->raise_fence(8);
    stage.store.deliver(at(5ms));
    (void)asked.admission.resume(at(5ms));

    CHECK(asked.admission.finish_shared() == Next::reply);
    CHECK(asked.admission.status() == 412);
    stage.check_nothing_left(5ms);
}

TEST_CASE("the response tells a shared limit's state as the store has it") {
    Stage stage;
    const Asked asked{stage.gateway, Door::proxy, at(0s)};
    CHECK_FALSE(asked.admission.headers().empty());
}

TEST_CASE("a grant that comes when its limits have left the configuration is given back") {
    stint::test::FakeSharedCounters store;
    std::weak_ptr<limits::Limit> limit;
    {
        Gateway gateway{mixed()};
        gateway.shared = &store.charges;
        limit = gateway.snapshot.limits[2]->limit;
        store.script = {.way = Way::late, .delay = 50ms};
        const Asked asked{gateway, Door::proxy, at(0s)};
    }
    CHECK_FALSE(limit.expired());
    store.deliver(at(50ms));
    CHECK(limit.expired());
    CHECK(store.wrong() == 0);
}
