// A store's client and a server that a test plays.
#include "store_fixture.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

using namespace stint::redis;
using namespace stint::redis::test;
using stint::test::run_until;
namespace net = stint::net;

namespace {

const std::string sha(40, 'a');

// A server that a test plays: answers what a client says when it comes up.
struct PlayedStore {
    explicit PlayedStore(const std::string& says_hello = hello3) : hello{says_hello} {}

    Wire accept(const std::string& loaded = "$40\r\n" + sha + "\r\n") {
        Wire far = listening.accept();
        far.read_until("SETNAME\r\n$5\r\nstint\r\n");
        far.send(hello);
        set_up(far, loaded);
        return far;
    }
    void set_up(Wire& far, const std::string& loaded) {
        far.read_until("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$3\r\nlua\r\n");
        far.send(info);
        far.send("-NOPERM no CONFIG\r\n" + loaded);
    }
    Wire open() {
        store.script = "lua";
        store.open(listening.address());
        Wire far = accept();
        store.await_up();
        return far;
    }
    void settle() {
        loop.restart();
        loop.poll();
    }

    net::asio::io_context loop;
    ListeningWire listening{loop};
    std::string hello;
    std::string info = "$36\r\nrole:master\r\nmaster_replid:one\r\nx:yz\r\n";
    Store store{loop};
};

const std::string evalsha = command({"EVALSHA", sha, "1", "k", "a", "b"});

} // namespace

TEST_CASE("a call runs the script by its SHA1, and its result is the answer") {
    PlayedStore played;
    Wire far = played.open();
    CHECK(played.store.client->facts().replication_id == "one");
    CHECK_FALSE(played.store.client->facts().append_only.has_value()); // CONFIG was refused
    CHECK(played.store.last_facts == played.store.client->facts());
    played.store.call({"k"}, {"a", "b"});
    CHECK(far.read(evalsha.size()) == evalsha);
    far.send("*1\r\n:7\r\n");
    played.store.await_all();
    CHECK((**played.store.answers[0]).items[0].integer == 7);
}

TEST_CASE("facts are those of the server that is up, not of the one before") {
    PlayedStore played;
    Wire far = played.open();
    CHECK(played.store.client->facts().role == "master");
    played.info = "-NOPERM no INFO\r\n";
    far.close();
    Wire next = played.accept();
    run_until(played.loop, [&] { return played.store.ups == 2; });
    CHECK(played.store.client->facts() == ServerFacts{});
}

TEST_CASE("the source of addresses learns of every connection that ended or was not made") {
    struct Counted final : AddressSource {
        Counted(const net::Executor& executor, const net::Endpoint& endpoint, int& count)
            : address{executor, {endpoint, "shop:6379", ""}}, failures{count} {}
        void find(Found found) override { address.find(std::move(found)); }
        void cancel() noexcept override { address.cancel(); }
        void note_failure() noexcept override { ++failures; }
        FixedAddress address;
        int& failures;
    };
    PlayedStore played;
    int failures = 0;
    played.store.script = "lua";
    played.store.open_at(std::make_unique<Counted>(
        played.loop.get_executor(), played.listening.address(), failures));
    played.listening.accept().close();
    run_until(played.loop, [&] { return failures == 1; });
    Wire far = played.accept();
    played.store.await_up();
    CHECK(failures == 1);
    far.close();
    run_until(played.loop, [&] { return failures == 2; });
}

TEST_CASE("a script that the server has forgotten is loaded once for all calls, and not for ever") {
    PlayedStore played;
    Wire far = played.open();
    played.store.call({"k"}, {"a", "b"});
    played.store.call({"k"}, {"a", "b"});
    far.read(2 * evalsha.size());
    far.send("-NOSCRIPT No matching script.\r\n-NOSCRIPT No matching script.\r\n");
    const std::string again = command({"SCRIPT", "LOAD", "lua"}) + evalsha + evalsha;
    CHECK(far.read(again.size()) == again);
    far.send("$40\r\n" + sha + "\r\n:1\r\n-NOSCRIPT No matching script.\r\n");
    played.store.await_all();
    CHECK((**played.store.answers[0]).integer == 1);
    REQUIRE(played.store.answers[1]->has_error());
    CHECK(played.store.answers[1]->error().kind == Failure::Kind::no_script);

    played.store.call({"k"}, {"a", "b"}); // forgotten once more
    far.read(evalsha.size());
    far.send("-NOSCRIPT No matching script.\r\n");
    far.read(command({"SCRIPT", "LOAD", "lua"}).size() + evalsha.size());
    far.send("$40\r\n" + sha + "\r\n:2\r\n");
    played.store.await_all();
    CHECK((**played.store.answers[2]).integer == 2);
}

TEST_CASE("errors of the server are failures with their kinds, and the connection stays") {
    PlayedStore played;
    Wire far = played.open();
    const std::pair<const char*, Failure::Kind> cases[] = {
        {"LOADING x", Failure::Kind::loading},   {"NOREPLICAS x", Failure::Kind::no_replicas},
        {"OOM x", Failure::Kind::out_of_memory}, {"BUSY x", Failure::Kind::script_running},
        {"NOPERM x", Failure::Kind::denied},     {"ERR x", Failure::Kind::other_error},
    };
    for (const auto& [text, kind] : cases) {
        CAPTURE(text);
        played.store.call({"k"}, {"a", "b"});
        far.read(evalsha.size());
        far.send(std::string{"-"} + text + "\r\n");
        played.store.await_all();
        CHECK(played.store.answers.back()->error().kind == kind);
    }
    played.settle();
    CHECK(played.store.client->up());
}

TEST_CASE("a server that turns out to be a replica is left, and its calls are answered") {
    PlayedStore played;
    const char* error = "";
    SUBCASE("it says READONLY") {
        error = "-READONLY You can't write against a read only replica.\r\n";
    }
    SUBCASE("it says MASTERDOWN") {
        error = "-MASTERDOWN Link with MASTER is down\r\n";
    }
    Wire far = played.open();
    played.store.call({"k"}, {"a", "b"});
    played.store.call({"k"}, {"a", "b"});
    far.read(2 * evalsha.size());
    far.send(error);
    played.store.await_all();
    CHECK(played.store.answers[0]->error().kind != Failure::Kind::broken);
    CHECK(played.store.answers[1]->error().may_have_run());
    far.wait_closed();
    CHECK_FALSE(played.store.client->up());
    Wire next = played.accept();
    played.store.await_up();
    CHECK(played.store.client->state().times_up == 2);
}

TEST_CASE("while it is down every call fails at once, in a later turn") {
    net::asio::io_context loop;
    Store store{loop};
    const stint::test::RefusingAddress closed;
    store.open(closed.address(), {settings(), 1h, 1h});
    CHECK(
        store.ask({"k"}, {"1"}).error().text.starts_with("redis: ")); // not tried, or already down
    run_until(loop, [&] { return store.downs == 1; });
    for (int i = 0; i < 100; ++i)
        store.call({"k"}, {"1"});
    loop.restart();
    CHECK(loop.poll() == 1); // one function answers all: no call waits for anything
    CHECK(store.waiting == 0);
    const Failure& failure = store.answers.back()->error();
    CHECK(failure.kind == Failure::Kind::unreachable);
    CHECK(failure.text == "redis: connect to shop:6379: connection refused");
    CHECK_FALSE(failure.may_have_run());
    CHECK(store.downs == 1); // no call has made it try again
    const StoreState state = store.client->state();
    CHECK_FALSE(state.up);
    CHECK(state.last_error == failure.text);
    CHECK(state.address.empty());
    store.client.reset(); // while it pauses
    loop.restart();
    loop.run();
    CHECK(store.downs == 1);
}

TEST_CASE("a server that is not ready to be a store is down") {
    PlayedStore played;
    played.store.script = "lua";
    played.store.open(played.listening.address());
    Wire far = played.accept("-LOADING Redis is loading the dataset in memory\r\n");
    far.wait_closed();
    run_until(played.loop, [&] { return played.store.downs == 1; });
    CHECK(
        played.store.last_down.text ==
        "redis: shop:6379: LOADING Redis is loading the dataset in memory");
    CHECK(played.store.ups == 0);
    Wire next = played.accept();
    played.store.await_up();
}

TEST_CASE("a server that answers a handshake and no call is tried more and more rarely") {
    auto hasty = settings();
    hasty->reply_timeout = 100ms;
    PlayedStore played;
    played.store.script = "lua";
    played.store.open(played.listening.address(), {hasty, 1ms, 1h});
    for (int i = 1; i <= 5; ++i) {
        Wire far = played.accept();
        played.store.await_up();
        played.store.call({"k"}, {"a", "b"});
        played.store.await_all();
        CHECK(played.store.answers.back()->error().kind == Failure::Kind::timed_out);
        played.store.await_down();
        CHECK(played.store.client->state().failures == i); // the pause doubles with each
    }
    Wire far = played.accept();
    played.store.await_up();
    played.store.call({"k"}, {"a", "b"});
    far.send(":1\r\n");
    played.store.await_all();
    CHECK(played.store.client->state().failures == 0);
}

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

TEST_CASE("the addresses of a host are tried in turn") {
    net::asio::io_context loop;
    std::optional<AddressSource::Answer> found;
    const auto find = [&](AddressSource& source) {
        found.reset();
        source.find([&](const AddressSource::Answer& answer) { found = answer; });
        CHECK_FALSE(found.has_value());
        run_until(loop, [&] { return found.has_value(); });
        return *found;
    };
    SUBCASE("an address") {
        HostAddresses source{loop.get_executor(), "::1", 6379, "redis.internal"};
        for (int i = 0; i < 3; ++i) {
            CHECK(find(source).address.text == "[::1]:6379");
            CHECK(found->address.server_name == "redis.internal");
            source.note_failure();
        }
    }
    SUBCASE("a name") {
        HostAddresses source{loop.get_executor(), "localhost", 6379, ""};
        const std::string first = find(source).address.text;
        CHECK(first.starts_with("localhost:6379 ("));
        CHECK(find(source).address.text == first); // it has not failed
        std::set<std::string> texts;
        for (int i = 0; i < 20; ++i) { // round and round
            source.note_failure();
            CHECK(find(source).failure.empty());
            texts.insert(found->address.text);
        }
        std::optional<std::vector<std::string>> addresses;
        net::NameLookup lookup{loop};
        lookup.begin("localhost", [&](const auto& answer) { addresses = answer.addresses; });
        run_until(loop, [&] { return addresses.has_value(); });
        CHECK(texts.size() == std::set(addresses->begin(), addresses->end()).size());
    }
    SUBCASE("no name") {
        const std::string impossible(64, 'x'); // longer than a label may be
        HostAddresses source{loop.get_executor(), impossible, 6379, ""};
        CHECK(find(source).failure.starts_with("look up " + impossible + ": "));
    }
    SUBCASE("a search that is cancelled") {
        HostAddresses source{loop.get_executor(), "127.0.0.1", 6379, ""};
        source.find([&](const AddressSource::Answer& answer) { found = answer; });
        source.cancel();
        loop.run();
        CHECK_FALSE(found.has_value());
    }
}
