// When operators' changes end.
#include "net/clock.hpp"
#include "runtime/operator_changes.hpp"
#include "silent_room.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <new>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::runtime;

namespace {

using Targets = std::vector<LimitChange::Target>;

// A change that has expired already: it ends at the first look.
LimitChange expired_block() {
    return {
        .target = {"l", LimitChange::Kind::block_key, "k"}, .expires = net::read_steady_clock()};
}

LimitChange lasting_block() {
    return {.target = {"l", LimitChange::Kind::block_key, "other"}};
}

struct Operators {
    boost::asio::io_context control{};
    limits::Registry registry{};
    test::SilentRoom room{};
    locks::LockManager locks{registry, room.scheduler(), net::read_clocks().wall};
    bool out_of_memory = false; // for the next publication
    std::vector<Targets> published{};
    OperatorChanges changes{control, locks, room, [this](const auto& targets) {
                                if (std::exchange(out_of_memory, false))
                                    throw std::bad_alloc{};
                                published.push_back(targets);
                            }};

    void run_control() {
        control.restart();
        control.poll();
    }
};

} // namespace

TEST_CASE("restored changes do not end before the configuration with them is in force") {
    Operators of;

    of.changes.restore({expired_block()}, {});
    of.control.poll();

    CHECK(of.changes.overlay().limits().all().size() == 1);
    CHECK(of.published.empty());

    of.changes.start();
    of.run_control();

    CHECK(of.changes.overlay().limits().empty());
    CHECK(of.published == std::vector<Targets>{{expired_block().target}});
}

TEST_CASE("a change that could not be published is published with the next, and ends at its time") {
    Operators of;
    of.changes.start();
    of.out_of_memory = true;

    CHECK_THROWS_AS((void)of.changes.put(expired_block()), std::bad_alloc);
    CHECK(of.changes.overlay().limits().all().size() == 1);
    CHECK(of.published.empty());
    of.run_control();

    CHECK(of.changes.overlay().limits().empty());
    REQUIRE(of.published.size() == 1);
    CHECK(of.published[0] == Targets{expired_block().target, expired_block().target});

    of.out_of_memory = true;
    CHECK_THROWS_AS((void)of.changes.put(lasting_block()), std::bad_alloc);
    CHECK(of.changes.erase(lasting_block().target, {}));
    CHECK(of.published.back() == Targets{lasting_block().target, lasting_block().target});
}

TEST_CASE("a change of none that is there is not published") {
    Operators of;
    CHECK_FALSE(of.changes.erase(expired_block().target, {}));
    REQUIRE(of.changes.put(lasting_block()));
    CHECK(of.published == std::vector<Targets>{{lasting_block().target}});
}

TEST_CASE("a restored switch goes where its limit may not be enforced any more") {
    config::Config config;
    for (const char* name : {"queue", "reserving", "other"}) {
        config.limits.emplace_back().name = name;
        config.limits.back().enforce = false;
    }
    config.limits[0].wait = config::Limit::Wait{};
    config.limits[1].reserve_for.emplace_back();
    config.routes.emplace_back().limits = {0, 1, 2};
    const auto switch_of = [](std::string limit, bool enforce) {
        return LimitChange{
            .target = {std::move(limit), LimitChange::Kind::enforce, {}}, .enforce = enforce};
    };
    Operators alone;
    alone.changes.restore(
        {switch_of("queue", true), switch_of("reserving", false), switch_of("other", true)},
        config);
    CHECK(alone.changes.overlay().limits().all().size() == 3);

    config.limits[1].enforce = true; // its switch may end first
    Operators beside;
    beside.changes.restore(
        {switch_of("queue", true), switch_of("reserving", false), switch_of("other", true)},
        config);
    CHECK_FALSE(beside.changes.overlay().limits().concern("queue"));
    CHECK(beside.changes.overlay().limits().concern("reserving"));
    CHECK(beside.changes.overlay().limits().concern("other"));
}
