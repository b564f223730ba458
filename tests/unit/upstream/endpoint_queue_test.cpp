// The line before an upstream whose endpoints are full.
#include "upstream/endpoint_queue.hpp"
#include "upstream/in_flight_token.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace stint::upstream;

namespace {

struct Waiter final : EndpointWaiter {
    explicit Waiter(EndpointQueue& in) : queue{in} {}
    ~Waiter() { queue.leave(*this); }
    void call() noexcept override { ++calls; }

    EndpointQueue& queue;
    int calls = 0;
};

} // namespace

TEST_CASE("the line takes so many and no more") {
    EndpointQueue queue;
    Waiter first{queue};
    Waiter second{queue};
    Waiter third{queue};

    CHECK_FALSE(queue.awaited());
    CHECK(queue.join(first, 2));
    CHECK(queue.join(second, 2));
    CHECK_FALSE(queue.join(third, 2));
    CHECK(queue.waiting() == 2);
}

TEST_CASE("a free place calls the first in line, and the next one when that one has gone") {
    EndpointQueue queue;
    Waiter first{queue};
    Waiter second{queue};
    REQUIRE(queue.join(first, 9));
    REQUIRE(queue.join(second, 9));
    CHECK(queue.is_first(first));

    queue.notify_free();
    CHECK(first.calls == 1);
    CHECK(second.calls == 0);

    queue.leave(first);
    CHECK(queue.is_first(second));
    CHECK(second.calls == 1);
    queue.leave(first); // again: nothing
    CHECK(second.calls == 1);
}

TEST_CASE("who leaves from the middle makes nobody the first") {
    EndpointQueue queue;
    Waiter first{queue};
    Waiter third{queue};
    {
        Waiter second{queue};
        REQUIRE(queue.join(first, 9));
        REQUIRE(queue.join(second, 9));
        REQUIRE(queue.join(third, 9));
    }
    CHECK(queue.waiting() == 2);
    CHECK(first.calls + third.calls == 0);
}

TEST_CASE("a charge that ends tells the line, once") {
    EndpointQueue queue;
    Waiter waiter{queue};
    EndpointState state{"a:1"};
    REQUIRE(state.charge(1));
    InFlightToken charge{state, &queue};
    REQUIRE(queue.join(waiter, 9));

    InFlightToken moved{std::move(charge)};
    CHECK(waiter.calls == 0);
    moved = {};

    CHECK(waiter.calls == 1);
    CHECK(state.in_flight() == 0);
}
