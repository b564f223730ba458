// A store's client and a server that a test plays.
#include "store_fixture.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint::redis;
using namespace stint::redis::test;
using stint::test::run_until;
namespace net = stint::net;

namespace {

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
