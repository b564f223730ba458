#include "net/event.hpp"
#include "net/io.hpp"

#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <utility>

namespace {

using namespace stint::net;

Task<> wait_for(Event& event, int& resumed) {
    co_await event.wait();
    ++resumed;
}

Task<> wait_twice(Event& event, int& resumed) {
    co_await event.wait();
    ++resumed;
    co_await event.wait();
    ++resumed;
}

struct Owner {
    explicit Owner(bool& flag) : destroyed{flag} {}
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner() { destroyed = true; }

    Event event;
    bool& destroyed;
};

Task<> own(std::unique_ptr<Owner> owner) {
    co_await owner->event.wait();
}

Task<> hold_while_waiting(Event& event, std::shared_ptr<int> held) {
    co_await event.wait();
    ++*held;
}

} // namespace

TEST_CASE("a signal that nobody waits for does nothing, and is not remembered") {
    asio::io_context context;
    Event event;
    int resumed = 0;

    event.signal();

    spawn(context.get_executor(), wait_for(event, resumed));
    context.poll();
    CHECK(event.has_waiter());
    CHECK(resumed == 0);
    event.signal();
    CHECK(resumed == 1);
}

TEST_CASE("signal resumes the waiting coroutine before it returns") {
    asio::io_context context;
    Event event;
    int resumed = 0;
    spawn(context.get_executor(), wait_for(event, resumed));
    context.poll();

    int seen = -1;
    asio::post(context, [&] {
        event.signal();
        seen = resumed;
    });
    context.poll();

    CHECK(seen == 1);
    CHECK_FALSE(event.has_waiter());
}

TEST_CASE("an event can be waited for again inside the signal that ended the wait before") {
    asio::io_context context;
    Event event;
    int resumed = 0;
    spawn(context.get_executor(), wait_twice(event, resumed));
    context.poll();

    event.signal();
    CHECK(resumed == 1);
    CHECK(event.has_waiter());
    event.signal();

    CHECK(resumed == 2);
    CHECK_FALSE(event.has_waiter());
}

TEST_CASE("the resumed coroutine may destroy the event and its owner") {
    asio::io_context context;
    bool destroyed = false;
    auto owner = std::make_unique<Owner>(destroyed);
    Event& event = owner->event;
    spawn(context.get_executor(), own(std::move(owner)));
    context.poll();
    REQUIRE_FALSE(destroyed);

    event.signal();
    context.poll();

    CHECK(destroyed);
}

TEST_CASE("an event destroyed before its signal destroys the coroutine that waits") {
    asio::io_context context;
    const auto held = std::make_shared<int>(0);
    auto event = std::make_unique<Event>();
    spawn(context.get_executor(), hold_while_waiting(*event, held));
    context.poll();
    REQUIRE(held.use_count() > 1);

    event.reset();
    context.poll();

    CHECK(held.use_count() == 1);
    CHECK(*held == 0);
}
