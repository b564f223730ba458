#include "net/alarm.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>

namespace {

using namespace stint;
using namespace stint::net;
using namespace std::chrono_literals;

Task<> sleep_on(std::shared_ptr<Alarm> alarm, SteadyTime until, int& woken) {
    co_await alarm->sleep_until(until);
    ++woken;
}

} // namespace

TEST_CASE("an alarm that rings ends the sleep, in a later turn of the loop") {
    asio::io_context loop;
    const auto alarm = std::make_shared<Alarm>(loop.get_executor());
    int woken = 0;
    spawn(loop.get_executor(), sleep_on(alarm, read_steady_clock() + 1h, woken));
    loop.poll();
    CHECK(woken == 0);

    alarm->ring();
    CHECK(woken == 0);
    loop.poll();

    CHECK(woken == 1);
}

TEST_CASE("an alarm that has rung before anybody slept ends the next sleep, and only that") {
    asio::io_context loop;
    const auto alarm = std::make_shared<Alarm>(loop.get_executor());
    int woken = 0;
    alarm->ring();
    loop.poll();

    loop.restart();
    spawn(loop.get_executor(), sleep_on(alarm, read_steady_clock() + 1h, woken));
    loop.poll();
    CHECK(woken == 1);

    spawn(loop.get_executor(), sleep_on(alarm, read_steady_clock() + 1h, woken));
    loop.restart();
    loop.poll();
    CHECK(woken == 1);
    alarm->ring();
    loop.poll();
    CHECK(woken == 2);
}

TEST_CASE("a sleep ends at its time") {
    asio::io_context loop;
    int woken = 0;

    spawn(
        loop.get_executor(),
        sleep_on(std::make_shared<Alarm>(loop.get_executor()), read_steady_clock(), woken));
    loop.run();

    CHECK(woken == 1);
}
