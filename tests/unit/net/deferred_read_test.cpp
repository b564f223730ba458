// A read that is not tried when it is started.
#include "net/deferred_read.hpp"
#include "net/io.hpp"
#include "socket_pair.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <string>

namespace {

using namespace stint;
using namespace stint::net;
using stint::test::SocketPair;

struct Reading {
    SocketPair pair;
    HandlerMemory memory;
    std::array<char, 8> room{};
    ErrorCode error;
    std::string text;
    int times = 0;

    void start() {
        read_deferred_then(
            pair.near, room, memory, [this](const ErrorCode& failed, std::size_t size) {
                error = failed;
                text.assign(room.data(), size);
                ++times;
            });
    }
    void run() {
        pair.context.restart();
        pair.context.poll();
    }
};

} // namespace

TEST_CASE("an untried read brings what comes after its start, once") {
    Reading reading;
    reading.start();
    reading.run();
    CHECK(reading.times == 0);

    reading.pair.send("hello");
    reading.run();

    CHECK(reading.times == 1);
    CHECK(!reading.error);
    CHECK(reading.text == "hello");
}

TEST_CASE("an untried read brings what has come in the same turn, before its start") {
    Reading reading;
    reading.pair.send("hello");
    reading.start();

    reading.run();

    CHECK(reading.text == "hello");
}

TEST_CASE("an untried read takes nothing while it is started") {
    Reading reading;
    reading.pair.send("hello");
    reading.start();

    std::array<char, 8> taken{};
    CHECK(read_now(reading.pair.near, taken).size == 5);
    reading.run();
    CHECK(reading.times == 0);

    reading.pair.send("more");
    reading.run();
    CHECK(reading.text == "more");
}

TEST_CASE("an untried read ends with its stream, and when it is cancelled") {
    Reading ended;
    ended.start();
    ended.pair.far.close();
    ended.run();
    CHECK(ended.error == asio::error::eof);

    Reading cancelled;
    cancelled.start();
    cancelled.pair.near.cancel();
    cancelled.run();
    CHECK(cancelled.error == asio::error::operation_aborted);
}

TEST_CASE("an untried read may be started again in the same place") {
    Reading reading;
    for (int round = 1; round <= 3; ++round) {
        reading.start();
        reading.pair.send("again");
        reading.run();
        CHECK(reading.times == round);
    }
}
