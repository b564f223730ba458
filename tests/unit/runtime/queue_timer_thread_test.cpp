// Who calls the waiting room when.
#include "limits/limit.hpp"
#include "limits/registry.hpp"
#include "net/clock.hpp"
#include "runtime/queue_timer_thread.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <utility>

namespace {

using namespace stint;
using namespace stint::limits;
using namespace std::chrono_literals;

struct Post final : Mailbox {
    void notify() noexcept override {
        ++rings;
        rings.notify_all();
    }
    std::atomic<int> rings = 0;
};

// A request that waits for a slot.
struct Waiting {
    Waiting(Mailbox& mailbox, AdmissionQueue& its_room, const Charge& charge, Duration most)
        : room{its_room}, waiter{mailbox} {
        waiter.charges.push_back(charge);
        WaitTerms& terms = waiter.terms.emplace_back();
        terms.waits = true;
        terms.max_wait = most;
        terms.max_waiting = 1;
        REQUIRE(room.enter(waiter, net::read_clocks()) == AdmissionQueue::Entered::waiting);
    }
    ~Waiting() { room.leave(waiter, net::read_clocks()); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    AdmissionQueue& room;
    Waiter waiter;
};

} // namespace

TEST_CASE("who gives a slot back has let the next one in when it returns") {
    Registry registry;
    Limit cap{{.identity = {.name = "c", .key = "", .algorithm = Algorithm::concurrency}}};
    const Charge slot{.limit = &cap, .quota = 1};
    runtime::QueueTimerThread openings{registry, net::read_clocks().wall};
    Permit held = std::move(try_admit({&slot, 1}, net::read_clocks()).permit);
    Post post;
    const Waiting next{post, openings.queue(), slot, 1h};

    held.release(net::read_clocks());

    CHECK(post.rings == 1);
    CHECK(cap.in_flight() == 1);
}

TEST_CASE("a wait that is over ends by itself") {
    Registry registry;
    Limit cap{{.identity = {.name = "c", .key = "", .algorithm = Algorithm::concurrency}}};
    const Charge slot{.limit = &cap, .quota = 1};
    runtime::QueueTimerThread openings{registry, net::read_clocks().wall};
    const Decision held = try_admit({&slot, 1}, net::read_clocks());
    Post post;
    const Waiting refused{post, openings.queue(), slot, 1ms};

    post.rings.wait(0);

    CHECK(post.rings == 1);
    CHECK_FALSE(cap.awaited());
}

TEST_CASE("a timer that is held lets nobody in, and all that was due when it goes on") {
    Registry registry;
    Limit cap{{.identity = {.name = "c", .key = "", .algorithm = Algorithm::concurrency}}};
    const Charge slot{.limit = &cap, .quota = 1};
    runtime::QueueTimerThread openings{registry, net::read_clocks().wall};
    Permit held = std::move(try_admit({&slot, 1}, net::read_clocks()).permit);
    Post post;
    const Waiting next{post, openings.queue(), slot, 1h};
    openings.hold();

    held.release(net::read_clocks());

    CHECK(post.rings == 0);
    CHECK(cap.in_flight() == 0);
    openings.go_on();
    post.rings.wait(0);
    CHECK(cap.in_flight() == 1);
}
