// A connection to a server that refuses, is silent, or breaks the protocol.
#include "fixture.hpp"
#include "net/address.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint::redis;
using namespace stint::redis::test;
using stint::test::RefusingAddress;
using stint::test::run_until;
namespace net = stint::net;

TEST_CASE("hostile replies end the connection") {
    const struct {
        std::string bytes;
        std::string end;
    } cases[] = {
        {"!\r\n", "a length is malformed"},
        {"$99999999999\r\n", "a text is longer than the bound"},
        {"*99999999\r\n", "a reply has more elements than the bound"},
        {":1\r\n:2\r\n", "a reply that no command has asked for"},
        {":1\r\n-ERR going\x1b away\r\n", "ERR going? away"},
        {"SSH-2.0-OpenSSH_9.2\r\n", "a value has an unknown type"},
    };
    for (const auto& each : cases) {
        CAPTURE(each.bytes);
        Played played;
        played.caller.send({"GET", "a"});
        played.far->send(each.bytes);
        const Failure end = played.caller.await_end();
        CHECK(end.kind == Failure::Kind::malformed);
        CHECK(end.text == "redis: shop:6379: " + each.end);
        CHECK(played.caller.replies[0].has_value());
        played.far->wait_closed();
    }
}

TEST_CASE("a server that closes after any byte of a reply") {
    const std::string reply = "*2\r\n$5\r\nhello\r\n%1\r\n+a\r\n:1\r\n";
    for (std::size_t size = 0; size <= reply.size(); ++size) {
        CAPTURE(size);
        Played played;
        played.caller.send({"GET", "a"});
        played.far->send(reply.substr(0, size));
        played.far->shutdown_send();
        CHECK(played.caller.await_end().text == "redis: shop:6379: closed by the server");
        CHECK(played.caller.replies[0]->has_value() == (size == reply.size()));
    }
}

TEST_CASE("silence ends a connection") {
    auto hasty = settings();
    SUBCASE("before a reply") {
        hasty->reply_timeout = 20ms;
        Played played{hasty};
        played.caller.send({"GET", "a"});
        const Failure end = played.caller.await_end();
        CHECK(end.kind == Failure::Kind::timed_out);
        CHECK(end.text == "redis: shop:6379: no reply within 20 ms");
        CHECK(played.caller.replies[0]->error().may_have_run());
    }
    SUBCASE("within a reply") {
        hasty->reply_timeout = 20ms;
        Played played{hasty};
        played.caller.send({"GET", "a"});
        played.far->send("$5\r\nhal");
        CHECK(played.caller.await_end().kind == Failure::Kind::timed_out);
    }
    SUBCASE("with messages instead of a reply") {
        hasty->reply_timeout = 20ms;
        Played played{hasty};
        played.caller.send({"GET", "a"});
        played.caller.when_pushed = [&] { played.far->send(">1\r\n+x\r\n"); };
        played.far->send(">1\r\n+x\r\n");
        CHECK(played.caller.await_end().kind == Failure::Kind::timed_out);
    }
    SUBCASE("to a PING") {
        hasty->reply_timeout = 20ms;
        hasty->ping_after = 5ms;
        Played played{hasty};
        CHECK(played.far->read_until("PING\r\n") == "*1\r\n$4\r\nPING\r\n");
        CHECK(played.caller.await_end().text == "redis: shop:6379: no reply within 20 ms");
    }
}

TEST_CASE("an idle connection is asked again and again whether it lives") {
    auto watchful = settings();
    watchful->ping_after = 2ms;
    Played played{watchful};
    for (int i = 0; i < 5; ++i) {
        played.far->read_until("PING\r\n");
        played.far->send("+PONG\r\n");
    }
    CHECK_FALSE(played.caller.end.has_value());
}

TEST_CASE("a connection that cannot be made says why") {
    net::asio::io_context loop;
    Caller caller{loop};
    SUBCASE("nobody listens") {
        const RefusingAddress closed;
        caller.connect(closed.address(), settings(), net::to_text(closed.address()));
        const Failure end = caller.await_end();
        CHECK(end.kind == Failure::Kind::unreachable);
        CHECK(
            end.text ==
            "redis: connect to " + net::to_text(closed.address()) + ": connection refused");
    }
    SUBCASE("no such file") {
        caller.connect(*net::unix_endpoint("/nowhere/redis.sock"), settings(), "unix:/nowhere");
        CHECK(
            caller.await_end().text ==
            "redis: connect to unix:/nowhere: no such file or directory");
    }
    SUBCASE("it accepts and never answers") {
        auto hasty = settings();
        hasty->connect_timeout = 20ms;
        ListeningWire listening{loop};
        caller.connect(listening.address(), hasty);
        CHECK(caller.await_end().text == "redis: connect to shop:6379: took longer than 20 ms");
    }
    SUBCASE("it closes at once") {
        ListeningWire listening{loop};
        caller.connect(listening.address());
        Wire far = listening.accept();
        far.read_until("SETNAME\r\n$5\r\nstint\r\n");
        far.close();
        CHECK(caller.await_end().text == "redis: connect to shop:6379: closed by the server");
        CHECK(caller.end->kind == Failure::Kind::unreachable);
    }
    SUBCASE("it refuses") {
        ListeningWire listening{loop};
        caller.connect(listening.address());
        listening.accept().send("-NOAUTH HELLO must be called\r\n");
        CHECK(
            caller.await_end().text == "redis: connect to shop:6379: NOAUTH HELLO must be called");
    }
    CHECK_FALSE(caller.ready);
    loop.restart();
    loop.poll();
}
