// A store's channels over reconnects, and the end of a client.
#include "store_fixture.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace stint::redis;
using namespace stint::redis::test;
using stint::test::run_until;

TEST_CASE("channels are subscribed to on every connection, and messages go to their handlers") {
    PlayedStore played;
    std::map<std::string, std::string> got;
    Wire first = played.open();
    played.store.client->subscribe("a", [&](std::string_view text) { got["a"] += text; });
    first.read_until("SUBSCRIBE\r\n$1\r\na\r\n");
    first.send(">3\r\n+subscribe\r\n+a\r\n:1\r\n>3\r\n+message\r\n+a\r\n+1\r\n");
    run_until(played.loop, [&] { return got["a"] == "1"; });
    first.close();
    played.store.await_down();
    played.store.client->subscribe("b", [&](std::string_view text) { got["b"] += text; });

    Wire second = played.accept();
    second.read_until("SUBSCRIBE\r\n$1\r\na\r\n");
    second.read_until("SUBSCRIBE\r\n$1\r\nb\r\n");
    second.send(">3\r\n+subscribe\r\n+a\r\n:1\r\n-NOPERM not b\r\n");
    second.send(
        ">3\r\n+message\r\n+none\r\n+0\r\n>1\r\n+message\r\n>3\r\n+message\r\n+a\r\n+2\r\n");
    run_until(played.loop, [&] { return got["a"] == "12"; });
    CHECK(got["b"].empty());
    CHECK(played.store.client->state().last_error == "redis: channel b: NOPERM not b");
    CHECK(played.store.client->up());
}

TEST_CASE("with RESP2 channels have a connection of their own, which goes with the other") {
    PlayedStore played{hello2};
    std::string got;
    Wire calls = played.open();
    CHECK_FALSE(played.listening.called()); // no channel, no connection
    played.store.client->subscribe("c", [&](std::string_view text) { got += text; });
    const auto open_messages = [&] {
        Wire messages = played.listening.accept();
        messages.read_until("SETNAME\r\n$5\r\nstint\r\n");
        messages.send(hello2);
        messages.read_until("SUBSCRIBE\r\n$1\r\nc\r\n");
        messages.send("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
        return messages;
    };
    Wire messages = open_messages();
    messages.send("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n1\r\n");
    run_until(played.loop, [&] { return got == "1"; });

    messages.close(); // alone: calls go on
    Wire others = open_messages();
    CHECK(played.store.client->up());
    CHECK(played.store.downs == 0);

    calls.close();
    others.wait_closed();
    Wire next = played.accept();
    Wire last = open_messages();
    last.send("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n2\r\n");
    run_until(played.loop, [&] { return got == "12"; });
}

TEST_CASE("a handler may destroy the client, and none is called afterwards") {
    PlayedStore played;
    int calls = 0;
    const auto drop = [&](const Reply&) {
        ++calls;
        played.store.client.reset();
    };
    const std::string_view key[] = {"k"};
    SUBCASE("from a reply") {
        Wire far = played.open();
        for (int i = 0; i < 2; ++i)
            played.store.client->call(key, {}, drop);
        far.send(":1\r\n:1\r\n");
        run_until(played.loop, [&] { return calls > 0; });
    }
    SUBCASE("from a failure") {
        Wire far = played.open();
        for (int i = 0; i < 2; ++i)
            played.store.client->call(key, {}, drop);
        far.close();
        run_until(played.loop, [&] { return calls > 0; });
    }
    SUBCASE("from a refusal") {
        played.store.open(played.listening.address());
        for (int i = 0; i < 2; ++i)
            played.store.client->call(key, {}, drop);
        run_until(played.loop, [&] { return calls > 0; });
    }
    SUBCASE("from a message") {
        Wire far = played.open();
        const std::string own(100, 'x');
        played.store.client->subscribe("c", [&, own](std::string_view) {
            drop(Value{});
            CHECK(own == std::string(100, 'x')); // the handler lives as long as it runs
        });
        far.send(">3\r\n+message\r\n+c\r\n+1\r\n>3\r\n+message\r\n+c\r\n+1\r\n");
        run_until(played.loop, [&] { return calls > 0; });
    }
    played.settle();
    CHECK(calls == 1);
    CHECK(played.store.downs == 0);
}

TEST_CASE("a client that goes leaves nothing pending, at whatever moment") {
    for (int turns = 0; turns < 30; ++turns) {
        CAPTURE(turns);
        PlayedStore played;
        played.store.open(played.listening.address());
        played.store.call({"k"}, {});
        for (int i = 0; i < turns; ++i) {
            played.loop.restart();
            played.loop.poll_one();
        }
        played.store.client.reset();
        played.loop.restart();
        played.loop.run(); // returns: nothing is pending
    }
}
