// A store's client and a real redis-server, where one is installed.
#include "redis_process.hpp"
#include "store_fixture.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <string>

using namespace stint::redis;
using namespace stint::redis::test;
using stint::test::RedisProcess;
using stint::test::run_until;
namespace net = stint::net;

namespace {

bool no_store() {
    if (RedisProcess::installed())
        return false;
    MESSAGE("skipped: redis-server is not installed");
    return true;
}

// Somebody else's connection.
Reply ask_server(
    net::asio::io_context& loop,
    const RedisProcess& server,
    const std::vector<std::string_view>& arguments) {
    Caller caller{loop};
    caller.connect(server.address());
    caller.await_ready();
    return caller.ask(arguments);
}

} // namespace

TEST_CASE("a real server's facts, calls and messages") {
    if (no_store())
        return;
    const RedisProcess server{{"--maxmemory-policy", "noeviction", "--min-replicas-max-lag", "7"}};
    net::asio::io_context loop;
    Store store{loop};
    store.open(server.address());
    std::string got;
    store.client->subscribe("c", [&](std::string_view text) { got += text; });
    store.await_up();

    const ServerFacts& facts = store.client->facts();
    CHECK(facts.software == "redis");
    CHECK(facts.version.starts_with("7."));
    CHECK(facts.role == "master");
    CHECK(facts.replication_id.size() == 40);
    CHECK(facts.eviction_policy == "noeviction");
    CHECK(facts.append_only == false);
    CHECK(facts.append_fsync == "everysec");
    CHECK(facts.min_replicas_to_write == 0);
    CHECK(facts.min_replicas_max_lag == 7);
    CHECK(facts.connected_replicas == 0);
    CHECK(facts.cluster == false);

    CHECK(store.ask({"k"}, {"2"})->integer == 2);
    CHECK(store.ask({"k"}, {"x"}).error().kind == Failure::Kind::other_error);
    CHECK(store.client->state().round_trip > 0ns);
    CHECK(store.client->state().address == "shop:6379");

    CHECK(ask_server(loop, server, {"SCRIPT", "FLUSH"})->text == "OK");
    CHECK(store.ask({"k"}, {"2"})->integer == 4); // loaded again

    CHECK(ask_server(loop, server, {"PUBLISH", "c", "m"})->integer == 1);
    run_until(loop, [&] { return got == "m"; });
}

TEST_CASE("a real server's refusals have their kinds") {
    if (no_store())
        return;
    const RedisProcess server;
    net::asio::io_context loop;
    Store store{loop};
    store.open(server.address());
    store.await_up();
    const auto kind_with = [&](std::vector<std::string_view> setting) {
        setting.insert(setting.begin(), {"CONFIG", "SET"});
        CHECK(ask_server(loop, server, setting)->text == "OK");
        return store.ask({"k"}, {"1"}).error().kind;
    };
    CHECK(kind_with({"min-replicas-to-write", "1"}) == Failure::Kind::no_replicas);
    CHECK(ask_server(loop, server, {"CONFIG", "SET", "min-replicas-to-write", "0"})->text == "OK");
    CHECK(kind_with({"maxmemory", "1"}) == Failure::Kind::out_of_memory);
    CHECK(ask_server(loop, server, {"CONFIG", "SET", "maxmemory", "0"})->text == "OK");
    CHECK(store.ask({"k"}, {"1"}).has_value());

    CHECK(ask_server(loop, server, {"REPLICAOF", "127.0.0.1", "1"})->text == "OK");
    CHECK(store.ask({"k"}, {"1"}).error().kind == Failure::Kind::read_only);
    run_until(loop, [&] { return store.downs == 1; }); // it may be up again by then
    CHECK(store.last_down.text.find("READONLY") != std::string::npos);
    store.await_up(); // the same address again: it has no other
    CHECK(store.client->facts().role == "slave");
}

TEST_CASE("a user that may do little is enough, and facts that it may not ask for are absent") {
    if (no_store())
        return;
    const RedisProcess server{
        {"--user", "stint", "on", ">wort", "~*", "+hello", "+evalsha", "+script|load", "+incrby"}};
    net::asio::io_context loop;
    Store store{loop};
    auto with = settings();
    with->login.user = "stint";
    with->login.password = "wort";
    store.open(server.address(), quick(with));
    store.client->subscribe("c", [](std::string_view) {});
    store.await_up();
    CHECK(store.ask({"k"}, {"3"})->integer == 3);
    CHECK(store.client->facts() == ServerFacts{});
    CHECK(store.client->state().last_error.starts_with("redis: channel c: NOPERM "));
}

TEST_CASE("a real server that is killed and started again under load, three times") {
    if (no_store())
        return;
    RedisProcess server;
    net::asio::io_context loop;
    Store store{loop};
    store.open(server.address());
    for (int round = 1; round <= 3; ++round) {
        store.await_up();
        std::size_t begun = store.answers.size();
        for (int i = 0; i < 300; ++i)
            store.call({"k"}, {"1"});
        run_until(loop, [&] { return store.answers[begun].has_value(); });
        const std::string text(20'000, 'x'); // more than the sockets hold
        for (int i = 0; i < 150; ++i)
            store.call({"k", text}, {"1"});
        server.kill();
        for (int i = 0; i < 100; ++i) {
            store.call({"k"}, {"1"});
            loop.restart();
            loop.poll();
        }
        store.await_all(); // that each is answered once is checked as they come
        store.await_down();
        CHECK(store.answers.back()->has_error());
        server.start();
    }
    store.await_up();
    CHECK(store.ask({"k"}, {"1"})->integer == 1); // the last server was empty
    CHECK(store.client->state().times_up == 4);
}

TEST_CASE("a real server that is stopped and goes on") {
    if (no_store())
        return;
    const RedisProcess server;
    net::asio::io_context loop;
    Store store{loop};
    auto hasty = settings();
    hasty->reply_timeout = hasty->connect_timeout = 300ms;
    store.open(server.address(), quick(hasty));
    store.await_up();
    server.signal(SIGSTOP);
    for (int i = 0; i < 10; ++i)
        store.call({"k"}, {"1"});
    store.await_all();
    CHECK(store.answers.back()->error().kind == Failure::Kind::timed_out);
    CHECK(store.answers.back()->error().may_have_run());
    CHECK(store.ask({"k"}, {"1"}).error().kind == Failure::Kind::unreachable); // at once
    server.signal(SIGCONT);
    store.await_up();
    CHECK(store.ask({"k"}, {"1"}).has_value());
}
