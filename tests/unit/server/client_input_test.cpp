// ClientInput on an event loop of its own, without a connection: the client is the far end of a
// socket pair.
#include "server/client_input.hpp"
#include "socket_pair.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

using namespace stint;

namespace {

// A request under way that only counts.
struct Handler final : server::RequestHandler {
    [[nodiscard]] server::Step on_request() override { return server::Step::pending; }
    [[nodiscard]] server::Step on_bad_request(int, std::string_view) override {
        return server::Step::pending;
    }
    [[nodiscard]] net::Task<> rest() override { co_return; }
    [[nodiscard]] server::RequestEnd finish() override { return {}; }
    void on_client_gone() noexcept override { ++gone; }
    void poll_tunnel() noexcept override { ++tunnel_polls; }

    int gone = 0;
    int tunnel_polls = 0;
};

constexpr std::size_t block_size = 64;

struct Connection : test::SocketPair {
    explicit Connection(bool half_close_allowed = false)
        : input{loop, io, current, half_close_allowed} {}
    // Ends as the connection's coroutine does: when no read is pending.
    ~Connection() {
        net::close(io);
        turn();
        CHECK_FALSE(input.reads());
    }

    // Runs what is ready, and waits for nothing.
    void turn() {
        context.restart();
        context.poll();
    }
    void begin_request() {
        current = server::RequestHandlerPtr{
            &handler, {nullptr, [](void*, server::RequestHandler*) noexcept {}}};
    }
    // Starts a coroutine, and runs it as far as it comes.
    template <class Function>
    void run(Function function) {
        net::asio::co_spawn(context, std::move(function), net::asio::detached);
        turn();
    }
    // Fills the block, so that no further read can be pending.
    void fill() {
        begin_request();
        start();
        send(std::string(block_size, 'x'));
        turn();
        REQUIRE(input.received().room().empty());
        REQUIRE_FALSE(input.reads());
    }
    [[nodiscard]] std::string text() {
        const std::span<char> bytes = input.received().bytes();
        return {bytes.data(), bytes.size()};
    }
    void start() { REQUIRE(input.begin_reading(blocks)); }

    KeyHasher keys;
    server::Totals totals{keys};
    observe::WorkerCounters counters;
    server::Loop loop{context.get_executor(), totals, counters, 4096};
    net::BufferPool blocks{block_size, 1};
    net::Stream io{std::move(near)};
    Handler handler;
    server::RequestHandlerPtr current;
    server::ClientInput input;
};

} // namespace

TEST_CASE("one read after the other, each behind the bytes before") {
    Connection client;
    client.start();
    client.send("GET /");
    client.turn();
    CHECK(client.text() == "GET /");
    CHECK(client.input.reads()); // the next one is pending

    client.send(" HTTP/1.1");
    client.turn();

    CHECK(client.text() == "GET / HTTP/1.1");
    CHECK_FALSE(client.input.error());
}

TEST_CASE("a coroutine in wait() resumes when bytes have come, or at wake()") {
    Connection client;
    bool resumed = false;
    const auto wait = [&]() -> net::Task<> {
        co_await client.input.wait();
        resumed = true;
    };
    client.start();
    client.run(wait);
    REQUIRE_FALSE(resumed);

    SUBCASE("bytes") {
        client.send("x");
        client.turn();
        CHECK_FALSE(client.input.reads()); // the coroutine decides what is read next
    }
    SUBCASE("the end of the stream") {
        client.far.close();
        client.turn();
        CHECK(client.input.error() == net::asio::error::eof);
    }
    SUBCASE("wake()") {
        client.input.wake();
    }

    CHECK(resumed);
}

TEST_CASE("stop() ends once the pending read has, and is no error") {
    Connection client;
    bool stopped = false;
    client.start();

    client.run([&]() -> net::Task<> {
        co_await client.input.stop();
        stopped = true;
    });

    CHECK(stopped);
    CHECK_FALSE(client.input.reads());
    CHECK_FALSE(client.input.error());
    client.send("still there");
    client.start();
    client.turn();
    CHECK(client.text() == "still there");
}

TEST_CASE("a client that closes its sending side has gone, unless a half-close is allowed") {
    bool allowed = false;
    SUBCASE("allowed") {
        allowed = true;
    }
    SUBCASE("not allowed") {}
    Connection client{allowed};
    client.begin_request();
    client.start();

    client.far.shutdown(net::Socket::shutdown_send);
    client.turn();

    CHECK(client.input.error() == net::asio::error::eof);
    CHECK(client.input.can_answer() == allowed);
    CHECK(client.handler.gone == (allowed ? 0 : 1));
    CHECK(client.loop.clients.watches_none() != allowed);
}

TEST_CASE("a client that has half-closed is still noticed when it goes") {
    Connection client{true};
    client.begin_request();
    client.start();
    client.far.shutdown(net::Socket::shutdown_send);
    client.turn();
    client.loop.clients.poll();
    REQUIRE(client.handler.gone == 0);

    client.far.close();
    client.loop.clients.poll();

    CHECK(client.handler.gone == 1);
    CHECK(client.loop.clients.watches_none());
}

TEST_CASE("a client whose bytes fill the block is polled, and noticed when it goes") {
    Connection client;
    client.fill();
    CHECK_FALSE(client.loop.clients.watches_none());
    client.loop.clients.poll();
    REQUIRE(client.handler.gone == 0);

    SUBCASE("at the next tick") {
        client.far.close();
        client.loop.clients.poll();
    }
    SUBCASE("later, when the kernel reports it") {
        client.loop.clients.poll();
        CHECK(client.loop.clients.watches_none());
        CHECK_FALSE(client.loop.clients.guards_none());
        client.loop.clients.poll();
        REQUIRE(client.handler.gone == 0);
        client.far.close();
        client.loop.clients.poll();
    }
    SUBCASE("when it is asked for") {
        client.far.close();
        client.input.poll_peer_close();
    }

    CHECK(client.handler.gone == 1);
    CHECK(client.input.error() == net::asio::error::connection_reset);
    CHECK_FALSE(client.input.can_answer());
    CHECK(client.loop.clients.watches_none());
    CHECK(client.loop.clients.guards_none());
}

TEST_CASE("a parked input holds no block, and goes on when bytes come") {
    Connection client;
    client.start();
    client.turn();
    REQUIRE(client.blocks.held() == 1);

    client.input.park();
    client.turn();

    CHECK_FALSE(client.input.received().has_block());
    CHECK(client.input.reads());
    CHECK_FALSE(client.loop.parked.empty());
    client.send("GET /");
    client.turn();
    CHECK_FALSE(client.input.reads());
    CHECK(client.loop.parked.empty());
    client.start();
    client.turn();
    CHECK(client.text() == "GET /");
}

TEST_CASE("an input with bytes is not parked") {
    Connection client;
    client.start();
    client.send("GET /");
    client.turn();

    client.input.park();
    client.turn();

    CHECK(client.text() == "GET /");
    CHECK(client.loop.parked.empty());
}

TEST_CASE("bytes that come in the turn in which an input is parked are not lost") {
    Connection client;
    client.start();
    client.input.park();
    client.send("GET /");
    client.turn();
    if (!client.input.reads()) // it was parked, and has become readable
        client.start();
    client.turn();

    CHECK(client.text() == "GET /");
}

TEST_CASE("close_if_silent() closes a silent connection, and no other") {
    Connection client;
    client.start();
    bool parked = false;
    SUBCASE("that reads") {}
    SUBCASE("that is parked") {
        parked = true;
    }
    if (parked) {
        client.input.park();
        client.turn();
    }

    SUBCASE("silent") {
        client.input.close_if_silent();
        client.turn();
        CHECK_FALSE(client.io.socket().is_open());
    }
    SUBCASE("with bytes on their way") {
        client.send("GET /");
        client.input.close_if_silent();
        client.turn();
        CHECK(client.io.socket().is_open());
    }
}

TEST_CASE("a parked connection that is shed is closed") {
    Connection client;
    client.start();
    client.input.park();
    client.turn();

    CHECK(client.loop.shed_connections(1) == 1);
    client.turn();

    CHECK_FALSE(client.io.socket().is_open());
    CHECK(client.loop.parked.empty());
    CHECK(client.loop.shed_connections(1) == 0);
}

TEST_CASE("a tunnel that has taken the input over is polled in its own way") {
    Connection client;
    client.begin_request();
    client.start();
    bool done = false;
    client.run([&]() -> net::Task<> {
        co_await client.input.hand_over();
        done = true;
    });
    REQUIRE(done);

    client.input.watch_from_afar();
    client.loop.clients.poll();

    CHECK(client.handler.tunnel_polls == 1);
    CHECK(client.handler.gone == 0);
}

TEST_CASE("a client that goes between two requests is no request's business") {
    Connection client;
    client.start();
    client.send(std::string(block_size, 'x'));
    client.turn();

    client.far.close();
    client.loop.clients.poll();

    CHECK(client.handler.gone == 0);
    CHECK_FALSE(client.input.error());
}
