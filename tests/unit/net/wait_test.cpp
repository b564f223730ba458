#include "net/clock.hpp"
#include "net/io.hpp"
#include "net/wait.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <malloc.h>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace {

using namespace stint;
using namespace stint::net;
using namespace std::chrono_literals;

thread_local std::size_t asio_allocations = 0;

using Ends = std::vector<Wait::End>;

Task<> wait_until(Wait& wait, SteadyTime deadline, Ends& ends) {
    const Wait::End end = co_await wait.until(deadline);
    ends.push_back(end);
}

Task<> count_wakes(Wait& wait, int most, std::atomic<int>& woken) {
    while (woken.load() < most) {
        co_await wait.until_woken();
        ++woken;
    }
}

Task<> wait_holding(std::shared_ptr<int> held, const Executor executor) {
    Wait wait{executor};
    wait.wake();
    co_await wait.until_woken();
    co_await wait.until_woken();
    ++*held;
}

struct Waiting {
    asio::io_context loop{1};
    Wait wait{loop.get_executor()};
    Ends ends;

    // Runs what is ready.
    void turn() {
        loop.restart();
        loop.poll();
    }
    void begin(SteadyTime deadline = SteadyTime::max()) {
        spawn(loop.get_executor(), wait_until(wait, deadline, ends));
        turn();
    }
};

} // namespace

// Asio allocates its operations by this, not by the global new.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {
    ++asio_allocations;
    return memalign(alignment, size);
}

TEST_CASE("a wake-up ends the wait, in a later turn of the loop") {
    Waiting test;
    test.begin();
    REQUIRE(test.ends.empty());

    test.wait.wake();
    CHECK(test.ends.empty());
    test.turn();

    CHECK(test.ends == Ends{Wait::End::woken});
}

TEST_CASE("wake-ups before a wait end the next one, and only that") {
    Waiting test;
    test.wait.wake();
    test.wait.wake();
    test.turn();
    test.wait.wake();
    test.turn();

    test.begin();
    CHECK(test.ends == Ends{Wait::End::woken});

    test.begin();
    CHECK(test.ends.size() == 1);
    test.wait.wake();
    test.turn();
    CHECK(test.ends.size() == 2);
}

TEST_CASE("a wait times out at its deadline") {
    Waiting test;

    spawn(test.loop.get_executor(), wait_until(test.wait, read_steady_clock(), test.ends));
    test.loop.run();

    CHECK(test.ends == Ends{Wait::End::timed_out});
}

TEST_CASE("a wait that timed out can be waited for again") {
    Waiting test;
    spawn(test.loop.get_executor(), wait_until(test.wait, read_steady_clock(), test.ends));
    test.loop.run();

    test.begin();
    test.wait.wake();
    test.turn();

    CHECK(test.ends == Ends{Wait::End::timed_out, Wait::End::woken});
}

TEST_CASE("a cancelled wait ends in a later turn of the loop, and no later wait begins") {
    Waiting test;
    test.begin();

    test.wait.cancel();
    CHECK(test.ends.empty());
    test.turn();
    CHECK(test.ends == Ends{Wait::End::cancelled});
    CHECK(test.wait.is_cancelled());

    test.begin();
    CHECK(test.ends == Ends{Wait::End::cancelled, Wait::End::cancelled});
}

TEST_CASE("a wait that is woken and cancelled in one turn is cancelled") {
    Waiting test;
    test.begin();

    SUBCASE("woken first") {
        test.wait.wake();
        test.wait.cancel();
    }
    SUBCASE("cancelled first") {
        test.wait.cancel();
        test.wait.wake();
    }
    test.turn();

    CHECK(test.ends == Ends{Wait::End::cancelled});
}

TEST_CASE("a wait may end between its wake-up and the next turn of the loop") {
    asio::io_context loop{1};
    std::optional<Wait> wait{loop.get_executor()};
    Wait other{loop.get_executor()};
    std::atomic<int> woken{0};
    spawn(loop.get_executor(), count_wakes(other, 1, woken));
    loop.poll();

    wait->wake();
    other.wake();
    wait.emplace(loop.get_executor()); // at the same address
    loop.poll();
    CHECK(woken.load() == 1);

    Ends ends;
    spawn(loop.get_executor(), wait_until(*wait, SteadyTime::max(), ends));
    loop.restart();
    loop.poll();
    CHECK(ends.empty()); // woken was the one before
}

TEST_CASE("waking allocates nothing, however many are woken") {
    asio::io_context loop{1};
    std::vector<std::unique_ptr<Wait>> waits;
    std::atomic<int> woken[100] = {};
    for (std::atomic<int>& each : woken) {
        waits.push_back(std::make_unique<Wait>(loop.get_executor()));
        spawn(loop.get_executor(), count_wakes(*waits.back(), 1, each));
    }
    loop.poll();

    const std::size_t before = asio_allocations;
    REQUIRE(before > 0); // those of spawn()
    for (const auto& wait : waits)
        wait->wake();
    const std::size_t after = asio_allocations;
    loop.poll();

    CHECK(after == before);
    for (const std::atomic<int>& each : woken)
        CHECK(each.load() == 1);
}

TEST_CASE("the end of the event loop ends what waits on it, and what was woken") {
    const auto held = std::make_shared<int>(0);
    {
        asio::io_context loop{1};
        Wait woken{loop.get_executor()};
        spawn(loop.get_executor(), wait_holding(held, loop.get_executor()));
        loop.poll();
        REQUIRE(held.use_count() == 2);
        woken.wake(); // posted, and never delivered
    }

    CHECK(held.use_count() == 1);
    CHECK(*held == 0);
}

TEST_CASE("other threads wake a coroutine that answers each of them, and no wake-up is lost") {
    constexpr int rounds = 20'000;
    asio::io_context loop{1};
    Wait wait{loop.get_executor()};
    std::atomic<int> answered{0};
    spawn(loop.get_executor(), count_wakes(wait, rounds, answered));

    std::thread waker{[&] {
        for (int i = 0; i < rounds; ++i) {
            wait.wake();
            while (answered.load() <= i) // a lost one hangs here
                std::this_thread::yield();
        }
    }};
    loop.run();
    waker.join();

    CHECK(answered.load() == rounds);
}
