// A connection to a server that a test plays: replies in order, bounds, breaks.
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <sys/un.h>

using namespace stint::redis;
using namespace stint::redis::test;
using stint::test::run_until;
namespace net = stint::net;

TEST_CASE("commands of one turn leave together, and replies come in order") {
    Played played;
    played.caller.send({"SET", "a", "1"});
    played.caller.send({"GET", "a"});
    played.caller.send({"GET", "b"});
    const std::string all =
        command({"SET", "a", "1"}) + command({"GET", "a"}) + command({"GET", "b"});
    CHECK(played.far->read(all.size()) == all);
    played.far->send("+OK\r\n$1\r\n1\r\n_\r");
    run_until(played.loop, [&] { return played.caller.replies[1].has_value(); });
    CHECK_FALSE(played.caller.replies[2].has_value());
    played.far->send("\n");
    CHECK(played.caller.await_last()->is_nil());
    CHECK((**played.caller.replies[0]).text == "OK");
    CHECK((**played.caller.replies[1]).text == "1");
    CHECK(played.caller.connection->round_trip() > 0ns);
}

TEST_CASE("an error of the server is a reply") {
    Played played;
    played.caller.send({"NO"});
    played.far->send("-ERR unknown command\r\n");
    const Reply reply = played.caller.await_last();
    REQUIRE(reply.has_value());
    CHECK(reply->is_error());
    CHECK_FALSE(played.caller.end.has_value());
}

TEST_CASE("messages come between replies, to the owner") {
    Played played;
    played.caller.send({"GET", "a"});
    played.far->send(">3\r\n+message\r\n+c\r\n+m\r\n:1\r\n>1\r\n+x\r\n");
    run_until(played.loop, [&] { return played.caller.messages.size() == 2; });
    CHECK(played.caller.messages[0].items[2].text == "m");
    CHECK(played.caller.await_last()->integer == 1);

    played.caller.send({"GET", "a"}); // a server may end a subscription unasked
    played.far->send(">3\r\n+unsubscribe\r\n+c\r\n:0\r\n:2\r\n");
    CHECK(played.caller.await_last()->integer == 2);
    CHECK(played.caller.messages.size() == 3);
}

TEST_CASE("a subscription's confirmation is its command's answer") {
    std::string answer = hello3;
    std::string type;
    SUBCASE("RESP3") {
        type = ">";
    }
    SUBCASE("RESP2") {
        answer = hello2;
        type = "*";
    }
    Played played{settings(), answer};
    std::optional<Reply> confirmed;
    REQUIRE(played.caller.connection->subscribe("c", [&](Reply reply) { confirmed = reply; }));
    CHECK(played.far->read_until("c\r\n") == "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n");

    played.far->send(type + "3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    run_until(played.loop, [&] { return confirmed.has_value(); });
    CHECK((**confirmed).items[0].text == "subscribe");
    CHECK(played.caller.messages.empty());

    played.far->send(type + "3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n");
    run_until(played.loop, [&] { return played.caller.messages.size() == 1; });
    CHECK_FALSE(played.caller.end.has_value());

    REQUIRE(played.caller.connection->subscribe("d", [&](Reply reply) { confirmed = reply; }));
    played.far->send("-NOPERM no channel d\r\n");
    run_until(played.loop, [&] { return (**confirmed).is_error(); });
}

TEST_CASE("an array that looks like a message is a reply where nothing was subscribed to") {
    Played played{settings(), hello2};
    played.caller.send({"LRANGE", "l", "0", "-1"});
    played.far->send("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n");
    CHECK(played.caller.await_last()->items.size() == 3);
}

TEST_CASE("a connection that breaks answers every command, with what was written of it") {
    Played played;
    played.caller.send({"GET", "a"});
    played.caller.send({"GET", "b"});
    played.far->read_until("b\r\n");
    played.far->send("$1\r\nx\r\n$5\r\nhal");
    run_until(played.loop, [&] { return played.caller.replies[0].has_value(); });
    played.far->close();
    played.caller.send({"GET", "c"}); // not flushed before the end is seen, or written into it
    const Failure end = played.caller.await_end();
    CHECK(end.kind == Failure::Kind::broken);
    CHECK(end.text.starts_with("redis: shop:6379: "));
    CHECK(played.caller.replies[0]->has_value());
    REQUIRE(played.caller.replies[1]->has_error());
    CHECK(played.caller.replies[1]->error().may_have_run());
    CHECK(played.caller.replies[2]->has_error());
    CHECK_FALSE(played.caller.connection->send(command({"GET", "d"}), {}).has_value());
}

TEST_CASE("what has not left surely did not run") {
    auto narrow = settings();
    narrow->max_unsent = 64U << 20U;
    Played played{narrow};
    played.listening.narrow_callers();
    const std::string large(8U << 20U, 'x');
    played.caller.send({"GET", "a"});
    played.caller.send({"SET", "b", large});
    played.caller.send({"GET", "c"});
    played.far->read_until("xxx");
    played.far->reset();
    played.caller.await_end();
    CHECK(played.caller.replies[0]->error().written == Written::all);
    CHECK(played.caller.replies[1]->error().written == Written::part);
    CHECK(played.caller.replies[2]->error().written == Written::nothing);
}

TEST_CASE("what was sent in the turn in which the connection breaks did not leave") {
    Played played;
    std::optional<Written> left;
    const auto also = [&](const Reply& reply) { left = reply.error().written; };
    REQUIRE(played.caller.connection->send(command({"A"}), [&](const Reply&) {
        CHECK(played.caller.connection->send(command({"B"}), also));
    }));
    played.far->send(":1\r\n?\r\n");
    played.caller.await_end();
    CHECK(left == Written::nothing);
}

TEST_CASE("a server that does not read holds up nobody, and gets all in the end") {
    auto narrow = settings();
    narrow->max_unsent = 64U << 20U;
    Played played{narrow};
    played.listening.narrow_callers();
    std::string all;
    for (int i = 0; i < 40; ++i) {
        const std::string text(200'000, static_cast<char>('a' + i % 26));
        played.caller.send({"SET", "k", text});
        all += command({"SET", "k", text});
        played.settle();
    }
    CHECK(played.far->read(all.size()) == all);
}

TEST_CASE("more commands or bytes than the bound are refused at once") {
    auto bounded = settings();
    bounded->max_in_flight = 2;
    bounded->max_unsent = 1000;
    Played played{bounded};
    bool called = false;
    const auto refused = [&](std::string_view text) {
        return played.caller.connection->send(text, [&](const Reply&) { called = true; });
    };
    const auto large = refused(command({"SET", "a", std::string(1000, 'x')}));
    REQUIRE(large.has_error());
    CHECK(large.error().kind == Failure::Kind::busy);
    CHECK(large.error().text == "redis: shop:6379: too many bytes wait to be sent");
    played.caller.send({"GET", "a"});
    played.caller.send({"GET", "b"});
    const auto third = refused(command({"GET", "c"}));
    REQUIRE(third.has_error());
    CHECK(third.error().text == "redis: shop:6379: too many commands wait for a reply");
    played.far->send(":1\r\n");
    run_until(played.loop, [&] { return played.caller.replies[0].has_value(); });
    played.caller.send({"GET", "c"}); // there is room again
    played.far->send(":2\r\n:3\r\n");
    CHECK(played.caller.await_last()->integer == 3);
    CHECK_FALSE(called);
}

TEST_CASE("a callback may end the connection, and no other comes") {
    Played played;
    int calls = 0;
    const auto drop = [&] {
        ++calls;
        played.caller.connection.reset();
    };
    SUBCASE("from a reply") {
        REQUIRE(played.caller.connection->send(command({"A"}), [&](const Reply&) { drop(); }));
        REQUIRE(played.caller.connection->send(command({"B"}), [&](const Reply&) { drop(); }));
        played.far->send(":1\r\n:2\r\n");
    }
    SUBCASE("from a failure") {
        REQUIRE(played.caller.connection->send(command({"A"}), [&](const Reply&) { drop(); }));
        REQUIRE(played.caller.connection->send(command({"B"}), [&](const Reply&) { drop(); }));
        played.far->close();
    }
    SUBCASE("from a message") {
        played.caller.when_pushed = drop;
        played.far->send(">1\r\n+a\r\n>1\r\n+b\r\n");
    }
    SUBCASE("from the end") {
        played.caller.when_ended = drop;
        played.far->close();
        run_until(played.loop, [&] { return calls > 0; });
        played.caller.end.reset();
    }
    run_until(played.loop, [&] { return calls > 0; });
    played.settle();
    CHECK(calls == 1);
    CHECK_FALSE(played.caller.end.has_value());
}

TEST_CASE("a destroyed connection leaves nothing behind, at whatever moment") {
    net::asio::io_context loop;
    ListeningWire listening{loop};
    Caller caller{loop};
    const auto held = std::make_shared<int>();
    for (int turns = 0; turns < 12; ++turns) {
        CAPTURE(turns);
        caller.connect(listening.address());
        caller.ready = false;
        Wire far = listening.accept();
        far.send(hello3);
        for (int i = 0; i < turns; ++i) {
            loop.restart();
            loop.poll_one();
        }
        if (caller.ready)
            CHECK(
                caller.connection->send(command({"A"}), [held](const Reply&) { FAIL("called"); }));
        caller.connection.reset();
        CHECK(held.use_count() == 1);
        far.wait_closed();
        loop.restart();
        loop.run(); // returns: nothing is pending
    }
    CHECK_FALSE(caller.end.has_value());
}
