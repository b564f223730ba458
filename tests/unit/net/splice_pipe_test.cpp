// Bytes that go through a pipe from one connection to another.
#include "net/splice_pipe.hpp"
#include "wire.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/timerfd.h>

namespace {

using namespace stint::net;
using stint::ErrorCode;
using stint::test::ListeningWire;
using stint::test::Wire;

// A connection over TCP: a plain socket, and its other end.
struct Connection {
    explicit Connection(asio::io_context& loop) : near{loop.get_executor()} {
        std::signal(SIGPIPE, SIG_IGN);
        ListeningWire listening{loop};
        near.connect(listening.address());
        near.native_non_blocking(true);
        far.emplace(listening.accept());
    }

    Socket near;
    std::optional<Wire> far;
};

struct Path {
    asio::io_context loop;
    Connection from{loop};
    Connection to{loop};
    SplicePipe pipe = SplicePipe::open().value();

    // fill() as soon as there is something.
    Received fill(std::size_t at_most = SplicePipe::capacity) {
        from.near.wait(Socket::wait_read);
        return pipe.fill(from.near, at_most);
    }
};

} // namespace

TEST_CASE("bytes go through a pipe in order, no more than asked for") {
    Path path;
    path.from.far->send("hello world");

    CHECK(path.fill(5).size == 5);
    CHECK(path.pipe.bytes() == 5);
    CHECK(path.pipe.drain(path.to.near).size == 5);
    CHECK(path.pipe.bytes() == 0);
    CHECK(path.to.far->read(5) == "hello");
    CHECK(path.fill().size == 6);
    CHECK(path.pipe.drain(path.to.near).size == 6);
    CHECK(path.to.far->read(6) == " world");
}

TEST_CASE("a silent sender is told from one that has ended and one that was reset") {
    Path path;
    CHECK(path.pipe.fill(path.from.near, 10).error == asio::error::would_block);

    SUBCASE("ended") {
        path.from.far->shutdown_send();
        CHECK(path.fill().error == asio::error::eof);
    }
    SUBCASE("reset") {
        path.from.far->reset();
        const Received got = path.fill();
        CHECK(got.error == asio::error::connection_reset);
        CHECK(got.size == 0);
    }
}

TEST_CASE("a receiver that does not read leaves bytes in the pipe, and gets them later") {
    Path path;
    const std::string piece(64 * 1024, 'x');
    std::size_t sent = 0;
    ErrorCode error;
    for (int i = 0; i < 10'000 && !error; ++i) {
        sent += path.from.far->send_some(piece);
        path.fill();
        error = path.pipe.drain(path.to.near).error;
        if (!error && path.pipe.bytes() > 0)
            error = path.pipe.drain(path.to.near).error;
    }
    REQUIRE(error == asio::error::would_block);
    const std::size_t left = path.pipe.bytes();
    REQUIRE(left > 0);

    std::size_t received = path.to.far->received().size();
    for (int i = 0; i < 1'000 && path.pipe.bytes() > 0; ++i) {
        path.to.near.wait(Socket::wait_write);
        error = path.pipe.drain(path.to.near).error;
        received = path.to.far->received().size();
    }

    CHECK(path.pipe.bytes() == 0);
    CHECK(received <= sent);
}

TEST_CASE("a receiver that is gone is an error, and what was for it stays in the pipe") {
    Path path;
    path.from.far->send("bytes");
    REQUIRE(path.fill().size == 5);
    path.to.far->reset();
    path.to.near.wait(Socket::wait_read);

    const Received put = path.pipe.drain(path.to.near);

    CHECK(put.error);
    CHECK(put.error != asio::error::would_block);
    CHECK(path.pipe.bytes() == 5);
}

TEST_CASE("a descriptor that cannot be spliced from moves nothing and says so") {
    Path path;
    Socket timer{path.loop.get_executor()};
    timer.assign(
        Protocol{AF_INET, 0}, ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));

    CHECK(path.pipe.fill(timer, 10).error == asio::error::operation_not_supported);
    CHECK(path.pipe.bytes() == 0);
}

TEST_CASE("what cannot be spliced out of a pipe can be copied out of it") {
    Path path;
    path.from.far->send("bytes");
    REQUIRE(path.fill().size == 5);
    // Nothing is spliced to what is appended to.
    ::fcntl(path.to.near.native_handle(), F_SETFL, O_APPEND | O_NONBLOCK);
    REQUIRE(path.pipe.drain(path.to.near).error == asio::error::operation_not_supported);
    CHECK(path.pipe.bytes() == 5);

    std::string text(3, ' ');
    CHECK(path.pipe.copy_out(text).size == 3);
    CHECK(text == "byt");
    CHECK(path.pipe.copy_out(text).size == 2);
    CHECK(text == "est");
    CHECK(path.pipe.bytes() == 0);
}

TEST_CASE("pipes are kept while they are empty and few") {
    Path path;
    SplicePipes pipes;
    path.from.far->send("bytes");
    REQUIRE(path.fill().size == 5);

    pipes.keep(std::move(path.pipe));
    CHECK(pipes.kept() == 0);
    for (std::size_t i = 0; i < SplicePipes::most_kept + 1; ++i)
        pipes.keep(SplicePipe::open().value());
    CHECK(pipes.kept() == SplicePipes::most_kept);

    CHECK(pipes.take().has_value());
    CHECK(pipes.kept() == SplicePipes::most_kept - 1);
    CHECK(pipes.close_kept() == SplicePipes::most_kept - 1);
    CHECK(pipes.kept() == 0);
}

TEST_CASE("pipes that nobody needs are closed") {
    SplicePipes pipes;
    for (int i = 0; i < 3; ++i)
        pipes.keep(SplicePipe::open().value());
    pipes.trim();
    pipes.keep(pipes.take().value());
    CHECK(pipes.kept() == 3);

    pipes.trim(); // two were not needed
    CHECK(pipes.kept() == 1);
    pipes.keep(pipes.take().value());
    pipes.trim();
    CHECK(pipes.kept() == 1);
    pipes.trim();
    CHECK(pipes.kept() == 0);
}

TEST_CASE("after giving up no pipe is given") {
    SplicePipes pipes;
    pipes.give_up();

    CHECK(pipes.take().error() == asio::error::operation_not_supported);
}
