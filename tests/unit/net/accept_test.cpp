#include "net/accept.hpp"
#include "net/acceptor.hpp"
#include "net/address.hpp"
#include "net/io.hpp"

#include <doctest/doctest.h>

#include <array>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <utility>

namespace {

using namespace stint;
using namespace stint::net;

struct Accepting {
    Accepting() {
        auto opened = open_listeners(*ip_endpoint("127.0.0.1", 0), 1);
        REQUIRE(opened.has_value());
        address = opened->address;
        acceptor.assign(address.protocol(), opened->sockets[0].release());
    }

    // A client whose connection waits to be accepted.
    Socket connect() {
        Socket client{context.get_executor()};
        client.connect(address);
        pollfd waiting{acceptor.native_handle(), POLLIN, 0};
        REQUIRE(::poll(&waiting, 1, 10'000) == 1);
        return client;
    }

    Socket accept() {
        Accepted accepted = accept_now(acceptor, error);
        REQUIRE(!error);
        peer = accepted.peer;
        Socket socket = adopt(context.get_executor(), std::move(accepted), error);
        REQUIRE(!error);
        return socket;
    }

    asio::io_context context;
    Acceptor acceptor{context.get_executor()};
    Endpoint address;
    Endpoint peer;
    ErrorCode error;
};

} // namespace

TEST_CASE("nobody who waits is no reason to wait") {
    Accepting accepting;

    const Accepted none = accept_now(accepting.acceptor, accepting.error);

    CHECK(accepting.error == asio::error::would_block);
    CHECK(none.socket.get() < 0);
}

TEST_CASE("who is connected is said with the connection") {
    Accepting accepting;
    const Socket client = accepting.connect();

    const Socket accepted = accepting.accept();

    CHECK(accepted.is_open());
    CHECK(accepting.peer == client.local_endpoint());
}

TEST_CASE("an accepted connection blocks nobody and is not inherited") {
    Accepting accepting;
    const Socket client = accepting.connect();

    Socket accepted = accepting.accept();

    CHECK((::fcntl(accepted.native_handle(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(accepted.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a connection that gets the descriptor of a closed one hears what comes in") {
    Accepting accepting;
    const Socket first_client = accepting.connect();
    Socket first = accepting.accept();
    const int descriptor = first.native_handle();
    bool cancelled = false;
    std::array<char, 8> bytes{};
    first.async_read_some(
        asio::buffer(bytes), [&](const ErrorCode& failed, std::size_t) { cancelled = !!failed; });
    Socket client = accepting.connect();
    first.close();

    Socket second = accepting.accept();
    std::size_t received = 0;
    second.async_read_some(
        asio::buffer(bytes), [&](const ErrorCode&, std::size_t size) { received = size; });
    accepting.context.poll();
    client.send(asio::buffer("news", 4));
    accepting.context.restart();
    accepting.context.run();

    CHECK(second.native_handle() == descriptor);
    CHECK(cancelled);
    CHECK(received == 4);
}

TEST_CASE("without a descriptor a connection is an error and still waits") {
    Accepting accepting;
    const Socket client = accepting.connect();
    rlimit files{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = files.rlim_max};

    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const Accepted refused = accept_now(accepting.acceptor, accepting.error);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);

    CHECK(accepting.error == boost::system::errc::too_many_files_open);
    CHECK(refused.socket.get() < 0);
    CHECK(accepting.accept().is_open());
}
