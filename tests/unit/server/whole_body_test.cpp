// WholeBody without a socket, on a fake stream. The deadline passes by the test's word.
#include "fake_stream.hpp"
#include "net/clock.hpp"
#include "server/whole_body.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

using namespace stint;
using namespace std::chrono_literals;

namespace {

struct Reading {
    explicit Reading(
        const std::string& fields, bool stalls = false, const std::string& with_head = "")
        : stream{peer, "POST / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"} {
        REQUIRE(stream.parsed);
        if (!with_head.empty())
            stream.give_with_head(with_head);
        stream.stalls = stalls;
        net::asio::co_spawn(
            context,
            [this]() -> net::Task<> {
                refusal = co_await body.read(5s, text);
                done = true;
            },
            net::asio::detached);
        turn();
    }

    void turn() {
        context.restart();
        context.poll();
    }
    void give(std::string_view bytes) {
        stream.give(bytes);
        turn();
    }
    void pass(Duration time) {
        loop.deadlines.expire(net::read_steady_clock() + time);
        turn();
    }
    [[nodiscard]] int status() const { return refusal ? refusal->status : 0; }

    net::asio::io_context context;
    KeyHasher keys;
    server::Totals totals{keys};
    observe::WorkerCounters counters;
    server::Loop loop{context.get_executor(), totals, counters, 4096};
    routing::ClientAddress peer{IpAddress{}, keys};
    test::FakeStream stream;
    server::WholeBody body{loop, stream};
    std::string text;
    std::optional<http::HeadError> refusal;
    bool done = false;
};

} // namespace

TEST_CASE("a body is read whole, piece by piece") {
    Reading reading{"Content-Length: 10\r\n"};
    reading.give("hello");
    CHECK_FALSE(reading.done);

    reading.give("world");

    REQUIRE(reading.done);
    CHECK(reading.status() == 0);
    CHECK(reading.text == "helloworld");
    CHECK(reading.loop.deadlines.empty());
}

TEST_CASE("a client with a window may send as much as was read, also of what came with the head") {
    Reading reading{"Content-Length: 10\r\n", false, "hello"};
    CHECK(reading.stream.credit == 5);

    reading.give("worl");
    CHECK(reading.stream.credit == 9);
    reading.give("d");

    REQUIRE(reading.done);
    CHECK(reading.text == "helloworld");
}

TEST_CASE("a body that does not come in time is a 408") {
    Reading reading{"Content-Length: 10\r\n"};
    reading.give("hello");
    reading.pass(4s);
    CHECK_FALSE(reading.done);

    reading.pass(6s);

    REQUIRE(reading.done);
    CHECK(reading.status() == 408);
}

TEST_CASE("a client that does not take the 100 Continue in time gets a 408, and no longer wait") {
    Reading reading{"Content-Length: 10\r\nExpect: 100-continue\r\n", true};
    REQUIRE_FALSE(reading.done);

    reading.pass(6s);

    REQUIRE(reading.done);
    CHECK(reading.status() == 408);
    CHECK(reading.loop.deadlines.empty());
}

TEST_CASE("a client that takes the 100 Continue late may still send its body in time") {
    Reading reading{"Content-Length: 5\r\nExpect: 100-continue\r\n", true};

    reading.stream.take_all();
    reading.turn();
    reading.give("hello");

    REQUIRE(reading.done);
    CHECK(reading.status() == 0);
    CHECK(reading.text == "hello");
}

TEST_CASE("a chunked body that is too large is a 413") {
    Reading reading{"Transfer-Encoding: chunked\r\n"};
    for (int i = 0; i < 4; ++i)
        reading.give(std::string(16 * 1024, 'x'));
    CHECK_FALSE(reading.done);

    reading.give("x");

    REQUIRE(reading.done);
    CHECK(reading.status() == 413);
}
