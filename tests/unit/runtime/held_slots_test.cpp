// Slots that another process's requests hold.
#include "net/clock.hpp"
#include "runtime/saved_rows.hpp"
#include "runtime/upgrade/held_slots.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <vector>

namespace {

using namespace stint;
using namespace stint::runtime;
using namespace std::chrono_literals;
using limits::Algorithm;

limits::LimitSpec cap(const char* key = "") {
    return {
        .identity = {.name = "cap", .key = key, .algorithm = Algorithm::concurrency}, .quota = 3};
}

limits::LimitSpec window() {
    return {.identity = {.name = "window", .key = "", .per = 1h}, .quota = 3};
}

} // namespace

TEST_CASE("slots of another process are held, even above the number, until it gives them back") {
    limits::Registry registry;
    const limits::LimitPtr limit = registry.obtain(cap("client_ip"));
    const std::string identity = key_of(limit->identity());
    const Now now = net::read_clocks();
    HeldSlots held{registry};

    held.take({{identity, {1, 1}, 5}, {identity, {2, 2}, 1}, {"of no limit", {}, 7}}, now);

    CHECK(held.size() == 6);
    CHECK(limit->in_flight() == 6);
    const limits::Charge third{.limit = limit.get(), .key = {1, 1}, .quota = 3};
    CHECK_FALSE(limits::admit({&third, 1}, now).allowed());
    held.give_back({identity, {1, 1}, {}, 3}, now);
    CHECK(limits::admit({&third, 1}, now).allowed()); // and gone
    held.give_back({identity, {3, 3}, {}, 1}, now);   // is not held
    held.give_back({identity, {2, 2}, {}, 9}, now);   // more than is held
    CHECK(held.size() == 2);
    CHECK(limit->in_flight() == 2);
}

TEST_CASE("slots are free when the other process has ended") {
    limits::Registry registry;
    const limits::LimitPtr limit = registry.obtain(cap());
    {
        HeldSlots held{registry};
        held.take({{key_of(limit->identity()), {}, 2}}, net::read_clocks());
        CHECK(limit->in_flight() == 2);
    }
    CHECK(limit->in_flight() == 0);
}

TEST_CASE("a charge of another process is given back to its window, and to no other") {
    limits::Registry registry;
    const Now now = net::read_clocks();
    std::vector<limits::SavedPage> pages;
    limits::Receipt receipt;
    {
        limits::Limit before{window()};
        const limits::Charge charge{.limit = &before, .quota = 3, .cost = 3, .refundable = true};
        limits::Decision decision = limits::admit({&charge, 1}, now);
        REQUIRE(decision.allowed());
        before.save(0, ~std::uint64_t{0}, now, pages);
        receipt = {.mark = (now.steady + 1h).time_since_epoch().count(), .cost = 3, .quota = 3};
    }
    const limits::LimitPtr limit = registry.obtain(window());
    std::erase_if(pages, [](const limits::SavedPage& each) { return each.bytes.empty(); });
    REQUIRE(pages.size() == 1);
    const limits::RestoredPage page{pages.front().page, pages.front().bytes, {}};
    REQUIRE(limit->restore({&page, 1}, now));
    REQUIRE(limit->state_of({.quota = 3}, now).used == 3);
    HeldSlots held{registry};
    const std::string identity = key_of(limit->identity());

    limits::Receipt of_another = receipt;
    of_another.mark += 1;
    held.give_back({identity, {}, of_another, 2}, now);
    CHECK(limit->state_of({.quota = 3}, now).used == 3);
    held.give_back({identity, {}, receipt, 2}, now);
    CHECK(limit->state_of({.quota = 3}, now).used == 1);
}
