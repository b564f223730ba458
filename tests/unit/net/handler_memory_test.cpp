#include "net/handler_memory.hpp"
#include "net/io.hpp"

#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <sys/socket.h>

namespace {

using namespace stint::net;

bool inside(const HandlerMemory& memory, const void* pointer) {
    const auto begin = reinterpret_cast<std::uintptr_t>(&memory);
    const auto at = reinterpret_cast<std::uintptr_t>(pointer);
    return at >= begin && at < begin + sizeof memory;
}

// Whether the room is free, seen from outside.
bool free_room(HandlerMemory& memory) {
    void* const taken = memory.take(1);
    const bool was_free = inside(memory, taken);
    memory.give_back(taken);
    return was_free;
}

} // namespace

TEST_CASE("the first operation is kept inside its owner, a second one is allocated") {
    HandlerMemory memory;

    void* const first = memory.take(64);
    void* const second = memory.take(64);

    CHECK(inside(memory, first));
    CHECK_FALSE(inside(memory, second));
    memory.give_back(second);
    CHECK_FALSE(free_room(memory)); // the first is still there
    memory.give_back(first);
    CHECK(free_room(memory));
}

TEST_CASE("the room is used again once given back") {
    HandlerMemory memory;
    void* const first = memory.take(64);
    memory.give_back(first);

    void* const again = memory.take(100);

    CHECK(again == first);
    memory.give_back(again);
}

TEST_CASE("an operation that does not fit is allocated and leaves the room free") {
    HandlerMemory memory;

    void* const large = memory.take(4096);

    CHECK_FALSE(inside(memory, large));
    CHECK(free_room(memory));
    memory.give_back(large);
}

TEST_CASE("a pending read lives in its owner, and another one after it") {
    asio::io_context context;
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    Socket near{context.get_executor(), Protocol{AF_UNIX, 0}, ends[0]};
    Socket far{context.get_executor(), Protocol{AF_UNIX, 0}, ends[1]};
    HandlerMemory memory;
    std::array<char, 8> bytes;
    std::size_t got = 0;

    for (int round = 0; round < 2; ++round) {
        got = 0;
        const auto on_read = [&got, &memory](const stint::ErrorCode&, std::size_t size) {
            got = size;
            CHECK(free_room(memory)); // so that the handler can start the next one in it
        };
        near.async_read_some(asio::buffer(bytes), in_place(memory, on_read));
        CHECK_FALSE(free_room(memory));
        REQUIRE(::send(far.native_handle(), "abc", 3, MSG_NOSIGNAL) == 3);
        context.restart();
        while (got == 0)
            context.run_one();

        CHECK(got == 3);
        CHECK(free_room(memory));
    }
}

TEST_CASE("handlers that share a memory are all called") {
    asio::io_context context;
    HandlerMemory memory;
    int calls = 0;
    const auto count = [&calls] { ++calls; };

    asio::post(context, in_place(memory, count));
    asio::post(context, in_place(memory, count));
    asio::post(context, in_place(memory, count));
    context.poll();

    CHECK(calls == 3);
    CHECK(free_room(memory));
}
