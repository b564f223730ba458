#include "fixture.hpp"
#include "http/permit_text.hpp"
#include "limits/counter/tally.hpp"
#include "limits/reservation/reservations.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::admission;
using namespace stint::admission::test;

namespace {

constexpr auto doors = {Door::proxy, Door::check, Door::explain, Door::simulate};

LimitedRoute with(std::initializer_list<routing::LimitTerms> limits) {
    LimitedRoute route;
    route.terms = limits;
    return route;
}

routing::LimitTerms waiting(routing::LimitTerms limit, Duration max_wait) {
    limit.wait.emplace();
    limit.wait->max_wait = max_wait;
    limit.wait->max_waiting = 10;
    return limit;
}

} // namespace

TEST_CASE("every door admits what a limit has, and refuses what it has not, alike") {
    for (const Door door : doors) {
        CAPTURE(static_cast<int>(door));
        Gateway gateway{with({window("one", 1)})};
        CHECK(Asked{gateway, door, at(0s)}.next == Next::forward);
        const Asked first{gateway, Door::proxy, at(0s)};

        Asked second{gateway, door, at(15s)};

        CHECK(second.next == Next::reply);
        CHECK(second.admission.ending().status == 429);
        CHECK(second.admission.ending().outcome == observe::Outcome::refused);
        CHECK(second.admission.reply().limit() == "one");
        CHECK(second.admission.reply().retry_after() == 45s);
    }
}

TEST_CASE("a preview charges nothing, and says what it has seen") {
    Gateway gateway{with({window("one", 5), window("two", 5)})};

    const Asked asked{gateway, Door::explain, at(0s)};

    CHECK(asked.next == Next::forward);
    CHECK(asked.seen.charges.charges.size() == 2);
    CHECK(asked.seen.states[1].counter.remaining == 5);
    CHECK(gateway.used(0) == 0);
    CHECK(gateway.used(1) == 0);
}

TEST_CASE("a check leaves out what the request's end would settle, and the others do not") {
    const auto made = [] {
        LimitedRoute route = with({window("plain", 5), cap("slots", 1), window("settled", 5)});
        route.terms[2].pricing.refund = {503};
        return route;
    };
    Gateway gateway{made()};
    {
        const Asked checked{gateway, Door::check, at(0s)};
        CHECK(checked.next == Next::forward);
        CHECK(checked.admission.left_out() == 0b110);
        CHECK(gateway.used(0) == 1);
        CHECK(gateway.limit(1).in_flight() == 0);
        CHECK(gateway.used(2) == 0);
    }
    {
        Asked proxied{gateway, Door::proxy, at(0s)};
        CHECK(proxied.admission.left_out() == 0);
        CHECK(gateway.limit(1).in_flight() == 1);
        CHECK(gateway.used(2) == 1);
        proxied.admission.settlement().settle_end(503, proxied.admission.permit(), at(1s));
        CHECK(gateway.used(2, 1s) == 0);
    }
    CHECK(gateway.limit(1).in_flight() == 0); // its permit has gone
}

TEST_CASE("a request waits in the queue, and has its turn when its window opens") {
    for (const Door door : {Door::proxy, Door::check, Door::simulate}) {
        CAPTURE(static_cast<int>(door));
        Gateway gateway{with({waiting(window("one", 1), 2min)})};
        const Asked first{gateway, door, at(0s)};
        Asked second{gateway, door, at(20s)};
        REQUIRE(second.next == Next::wait_queue);
        CHECK(gateway.limit(0).waiting() == 1);

        (void)gateway.waiting.queue.open(at(1min));
        limits::Waiters decided;
        gateway.waiting.queue.collect(gateway.waiting, decided);
        REQUIRE_FALSE(decided.empty());
        decided.clear();
        const Duration waited = second.admission.resume(at(1min));
        const Next next = second.admission.finish_queue(*second.callbacks.queued, waited);

        CHECK(next == Next::forward);
        CHECK(waited == 40s);
        CHECK(second.admission.decided().steady == at(1min).steady);
        CHECK(second.callbacks.log == "begin, waited for one");
        CHECK(gateway.used(0, 1min) == 1);
    }
}

TEST_CASE(
    "a lock that was given out, or a pause that has begun, during the wait refuses the request") {
    for (const Door door : {Door::proxy, Door::check}) {
        for (const bool paused : {false, true}) {
            CAPTURE(static_cast<int>(door));
            CAPTURE(paused);
            LimitedRoute route = with({waiting(window("one", 1), 2min)});
            route.fence = cap("lock:jobs", 1).limit;
            route.fence->raise_fence(7);
            route.cooldown.set =
                std::make_shared<limits::CooldownSet>(limits::CooldownIdentity{"a", "b"});
            route.cooldown.otherwise = "a";
            route.cooldown.rules.most = 10min;
            Gateway gateway{std::move(route)};
            const std::string_view fence = "X-Stint-Fence: 7\r\n";
            const Asked first{gateway, Door::proxy, at(0s), fence, "PUT /"};
            Asked second{gateway, door, at(20s), fence, "PUT /"};
            REQUIRE(second.next == Next::wait_queue);

            const routing::Route& live = gateway.snapshot.routes.routes().front();
            if (paused)
                (void)live.cooldown.set->all().front()->told(
                    {503, 5min}, at(30s).steady, live.cooldown.rules);
            else
                live.fence->raise_fence(8);
            (void)gateway.waiting.queue.open(at(1min));
            limits::Waiters decided;
            gateway.waiting.queue.collect(gateway.waiting, decided);
            decided.clear();
            const Duration waited = second.admission.resume(at(1min));

            CHECK(second.admission.finish_queue(*second.callbacks.queued, waited) == Next::reply);
            CHECK(second.admission.ending().status == (paused ? 503 : 412));
            CHECK(gateway.used(0, 1min) == 0); // it is given back
            if (paused)
                CHECK(second.admission.reply().retry_after() == 270s);
        }
    }
}

TEST_CASE("a dry run of a limit that lets requests wait delays and refuses none") {
    for (const Door door : {Door::proxy, Door::check, Door::simulate}) {
        CAPTURE(static_cast<int>(door));
        routing::LimitTerms looks_on = window("looks on", 1);
        looks_on.enforce = false;
        looks_on.dry_run_wait = 30s;
        Gateway gateway{with({looks_on, waiting(window("enforced", 3), 2min)})};
        const Asked first{gateway, door, at(0s)};
        const Asked early{gateway, door, at(29s)};
        const Asked late{gateway, door, at(30s)};
        const Asked queued{gateway, door, at(31s)};

        CHECK(first.next == Next::forward);
        CHECK(first.callbacks.log == "begin");
        CHECK(early.next == Next::forward);
        CHECK(early.callbacks.log == "begin, would refuse looks on");
        CHECK(early.admission.dry_run().would_refuse == "looks on");
        CHECK(early.admission.dry_run().would_wait.empty());
        CHECK(late.next == Next::forward);
        CHECK(late.callbacks.log == "begin, would wait for looks on");
        CHECK(late.admission.dry_run().would_wait == "looks on");
        CHECK(late.admission.dry_run().would_refuse.empty());
        CHECK(gateway.limit(0).dry_run().would_refuse() == 1);
        CHECK(gateway.limit(0).dry_run().would_wait() == 1);
        CHECK(gateway.used(0) == 1);
        CHECK(queued.next == Next::wait_queue); // as the enforced limit says
        CHECK(queued.callbacks.log == "begin");
        CHECK(gateway.limit(0).waiting() == 0);
    }
}

TEST_CASE("a route whose limits may wait or reserve decides as any other while none of them does") {
    for (const Door door : doors) {
        CAPTURE(static_cast<int>(door));
        LimitedRoute route = with({window("one", 1)});
        route.may_wait = true;
        route.may_reserve = true;
        Gateway gateway{std::move(route)};
        const Asked first{gateway, Door::proxy, at(0s)};

        Asked second{gateway, door, at(15s)};

        CHECK(first.next == Next::forward);
        CHECK(second.next == Next::reply);
        CHECK(second.admission.reply().retry_after() == 45s);
        CHECK(gateway.limit(0).waiting() == 0);
        CHECK(gateway.limit(0).reservations().given() == 0);
    }
}

TEST_CASE("a limit reserves beside one that would wait if it were enforced") {
    LimitedRoute route = with({window("one", 1), window("looks on", 1)});
    route.may_wait = true;
    route.terms[0].reserve_for = routing::KeyTemplate{{{routing::KeySource::Kind::client_ip, {}}}};
    route.terms[1].enforce = false;
    route.terms[1].dry_run_wait = 30s;
    Gateway gateway{std::move(route)};
    const Asked first{gateway, Door::proxy, at(0s)};

    const Asked second{gateway, Door::proxy, at(15s)};

    CHECK(second.next == Next::reply);
    CHECK(gateway.limit(0).reservations().given() == 1);
}

TEST_CASE("a preview says for how long a request would wait, or that it would in vain") {
    Gateway gateway{with({waiting(window("one", 1), 90s)})};
    const Asked first{gateway, Door::proxy, at(0s)};
    const Asked would_wait{gateway, Door::explain, at(20s)};
    CHECK(would_wait.next == Next::wait_queue);
    CHECK(would_wait.seen.wait == 40s);
    const Asked waits{gateway, Door::proxy, at(20s)};
    REQUIRE(waits.next == Next::wait_queue);

    Asked in_vain{gateway, Door::explain, at(20s)};

    CHECK(in_vain.next == Next::reply);
    CHECK(in_vain.admission.reply().retry_after() == 100s); // behind the one that waits
    CHECK(gateway.limit(0).waiting() == 1);
}

TEST_CASE(
    "an admission that is undone leaves nothing behind, and the request can be admitted again") {
    LimitedRoute route = with({window("one", 1), cap("slots", 1)});
    route.cooldown.set = std::make_shared<limits::CooldownSet>(limits::CooldownIdentity{"a", "b"});
    route.cooldown.otherwise = "a";
    route.cooldown.rules.waits = true;
    Gateway gateway{std::move(route)};
    Asked asked{gateway, Door::proxy, at(0s)};
    REQUIRE(asked.next == Next::forward);
    REQUIRE(gateway.limit(1).in_flight() == 1);

    asked.admission.undo(at(1s));

    CHECK(gateway.used(0, 1s) == 0);
    CHECK(gateway.limit(1).in_flight() == 0);
    (void)asked.admission.resume(at(2s));
    const routing::ClientAddress client{IpAddress{}, hasher};
    CHECK(asked.admission.admit({.client = client, .hasher = hasher}) == Next::forward);
    CHECK(gateway.limit(1).in_flight() == 1);
}

TEST_CASE("a fencing token that was good may be outdated after a wait") {
    LimitedRoute route;
    route.fence = cap("lock:jobs", 1).limit;
    route.fence->raise_fence(7);
    Gateway gateway{std::move(route)};
    Asked asked{gateway, Door::proxy, at(0s), "X-Stint-Fence: 7\r\n", "PUT /"};
    REQUIRE(asked.next == Next::forward);

    gateway.snapshot.routes.routes().front().fence->raise_fence(8);

    CHECK_FALSE(asked.admission.fence_holds());
    CHECK(asked.admission.ending().status == 412);
    CHECK(asked.callbacks.log == "fence");
    const Asked simulated{gateway, Door::simulate, at(0s), "X-Stint-Fence: 7\r\n", "PUT /"};
    CHECK(simulated.next == Next::forward); // the log does not have the newest number
}

TEST_CASE("a shown permit pays once, and a preview does not spend it") {
    Gateway gateway{with({window("one", 1)})};
    const std::vector<limits::Charge> paid{gateway.snapshot.limits[0]->charge({})};
    const Asked takes_all{gateway, Door::proxy, at(0s)};
    const auto id = gateway.prepaid.issue(paid, at(1min).steady, at(0s).steady);
    REQUIRE(id.has_value());
    const std::string shown = "X-Stint-Permit: " + http::permit_text(*id) + "\r\n";

    CHECK(Asked{gateway, Door::explain, at(1s), shown}.next == Next::forward);
    CHECK(Asked{gateway, Door::explain, at(1s), shown}.next == Next::forward);
    const Asked proxied{gateway, Door::proxy, at(1s), shown};
    const Asked again{gateway, Door::proxy, at(1s), shown};

    CHECK(proxied.next == Next::forward);
    CHECK(proxied.callbacks.log == "begin, permit used");
    CHECK(again.next == Next::reply);
    CHECK(again.callbacks.log == "begin, permit unknown, refused one");
}

TEST_CASE("Max-Forwards ends a request at the proxy, and not one that another proxy forwards") {
    for (const Door door : doors) {
        Gateway gateway{with({window("one", 9)})};
        const Asked asked{gateway, door, at(0s), "Max-Forwards: 0\r\n", "OPTIONS /"};
        const bool ends = Features{door}.has(Feature::max_forwards);
        CHECK((asked.next == Next::reply) == ends);
        CHECK(asked.admission.ending().status == 200);
        CHECK(gateway.used(0) == (ends ? 0 : 1));
    }
}

TEST_CASE("every difference of a door has a reason that completes a sentence") {
    for (const Difference& each : differences) {
        CHECK(each.door != Door::proxy); // it is what the others differ from
        CHECK_FALSE(each.reason.empty());
        CHECK_FALSE(each.reason.ends_with('.'));
        CHECK_FALSE(Features{each.door}.has(each.feature));
        CHECK(Features{Door::proxy}.has(each.feature));
    }
}

TEST_CASE("a redirect to the request's own host needs a request that names one") {
    LimitedRoute route = with({window("one", 9)});
    route.answer = std::make_shared<const FixedAnswer>(FixedAnswer{
        .status = 308,
        .content_type = {},
        .body = {},
        .fields = {},
        .location = TextTemplate{"https://{host}{path}"}});
    Gateway gateway{std::move(route)};
    CHECK(Asked{gateway, Door::proxy, at(0s)}.next == Next::respond);
    for (const Door door : {Door::proxy, Door::explain}) {
        const Asked without{gateway, door, at(0s), "", "GET /", ""};
        CHECK(without.next == Next::reply);
        CHECK(without.admission.ending().status == 400);
    }
    CHECK(Asked{gateway, Door::check, at(0s)}.next == Next::forward); // another proxy responds
}
