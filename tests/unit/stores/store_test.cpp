// One or two gateways and a real server: sessions, servers of no use, the end.
#include "fixture.hpp"
#include "stores/counter_names.hpp"

#include <csignal>
#include <sstream>

using namespace stint;
using namespace stint::stores;
using namespace stint::stores::test;
using limits::OnStoreFailure;
using shared::SessionState;

namespace {

// All keys and all that they hold.
std::string everything(const RedisProcess& server) {
    std::string text = ask(server, "KEYS '*'");
    std::istringstream keys{text};
    for (std::string key; std::getline(keys, key);)
        text += ask(server, "HGETALL '" + key + "'");
    return text;
}

} // namespace

TEST_CASE("a second process with a gateway's name has no session until the first one ends") {
    if (no_server())
        return;
    const RedisProcess server;
    Gateway first{settings(server, "gw")};
    first.await_admission();
    Gateway second{settings(server, "gw")};
    second.await_session(SessionState::taken);
    CHECK_FALSE(second.store.state().asking);
    CHECK_FALSE(second.client.admitted());
    CHECK(second.store.counters().wants == 0);
    CHECK(first.client.admitted());

    first.store.stop();
    CHECK_FALSE(first.client.admitted());
    second.await_session(SessionState::active);
    second.await_admission();
}

TEST_CASE("a process that replaces a gateway has a session beside it, and keeps others out") {
    if (no_server())
        return;
    const RedisProcess server;
    Gateway former{settings(server, "gw-1")};
    former.await_admission();
    Gateway next{settings(server, "gw-1~9")};
    next.await_session(SessionState::active);
    next.await_admission();
    CHECK(former.store.state().session == SessionState::active);
    Gateway last{settings(server, "gw-1~10")};
    last.await_session(SessionState::active);
    former.store.stop();
    next.store.stop();
    for (const auto* const name : {"gw-1", "gw-1~9", "gw-1~10"}) {
        Gateway other{settings(server, name)};
        other.await_session(SessionState::taken);
    }
    Gateway another{settings(server, "gw-2")};
    another.await_session(SessionState::active);
}

TEST_CASE(
    "a process that is replaced comes back beside the other one when the store forgets both") {
    if (no_server())
        return;
    const RedisProcess server;
    auto lasting = settings(server, "gw");
    lasting.time_to_live = 5s;
    Gateway former{lasting};
    former.await_admission();
    const std::string session = former.store.state().session_name;
    lasting.gateway = "gw~1";
    Gateway next{lasting};
    next.await_session(SessionState::active);
    const std::string field = "s:" + next.store.state().session_name;
    const std::string line = ask(server, "HGET '{test}:r' " + field);
    next.store.stop();
    // It lives, in another epoch, and the former process is forgotten.
    (void)ask(
        server, "EVAL \"redis.call('HDEL', KEYS[1], ARGV[1]) redis.call('HSET', KEYS[1], 'epoch', "
                "'1-1', ARGV[2], ARGV[3])\" 1 '{test}:r' s:" +
                    session + " " + field + " '" + line.substr(0, line.size() - 1) + "'");
    await(
        [&] {
            CHECK(former.store.state().session != SessionState::taken);
            return contains(ask(server, "HKEYS '{test}:r'"), session) &&
                   former.store.state().session == SessionState::active;
        },
        "the former process is kept out");
    CHECK(former.store.state().session_name == session);
}

TEST_CASE("a gateway has no session while others of another protocol live, then begins an epoch") {
    if (no_server())
        return;
    const RedisProcess server;
    Gateway first{settings(server, "a")};
    first.await_admission();
    const std::string epoch = ask(server, "HGET '{test}:r' epoch");
    const std::string protocol = ask(server, "HGET '{test}:r' protocol");
    // As if what lives were of another version. This one's own session is heard no more.
    // Its lines may be shorter or longer.
    (void)ask(
        server, "HSET '{test}:r' protocol 0 s:x 'old 1 0 0 - d 1 n 1000' "
                "s:y 'new 1 0 0 - d 1 n 1000 500 more'");
    first.await_session(SessionState::foreign);
    CHECK_FALSE(first.store.state().asking);
    CHECK_FALSE(first.client.admitted());
    CHECK(ask(server, "HGET '{test}:r' epoch") == epoch);
    CHECK(ask(server, "HGET '{test}:r' protocol") == "0\n");

    first.await_session(SessionState::active);
    CHECK(ask(server, "HGET '{test}:r' protocol") == protocol);
    CHECK(ask(server, "HGET '{test}:r' epoch") != epoch);
    first.await_admission();
}

TEST_CASE("a gateway that has ended is forgotten soon, also one that lived through a failover") {
    if (no_server())
        return;
    const RedisProcess server;
    Gateway first{settings(server, "a")};
    Gateway second{settings(server, "b")};
    first.await_admission();
    second.await_admission();
    const auto sessions = [&] {
        const std::string names = ask(server, "HKEYS '{test}:r'");
        std::size_t count = names.starts_with("s:") ? 1 : 0;
        for (std::size_t at = names.find("\ns:"); at != std::string::npos;
             at = names.find("\ns:", at + 1))
            ++count;
        return count;
    };
    CHECK(sessions() == 2);
    const std::string epoch = ask(server, "HGET '{test}:r' epoch");
    (void)ask(server, "HSET '{test}:r' replid another"); // as after a failover
    await(
        [&] {
            return ask(server, "HGET '{test}:r' learned") != epoch &&
                   ask(server, "HGET '{test}:r' learned") == ask(server, "HGET '{test}:r' epoch");
        },
        "what the gateways hold is not learned");
    first.store.stop();
    await([&] { return sessions() == 1; }, "the gateway that has ended is not forgotten");
}

TEST_CASE("a new store says of which limits it gives shares: of short ones, of all if trusted") {
    if (no_server())
        return;
    const RedisProcess server;
    Gateway gateway{settings(server, "a")};
    Terms hourly;
    hourly.name = "hourly";
    hourly.per = 1h;
    Client other{gateway.store, hourly};
    gateway.store.serve(other.limit(), OnStoreFailure::share);
    const auto gives = [&](Client& of) {
        return gateway.store.gives(of.limit(), {100, 0}, gateway.store.state());
    };
    gateway.await_session(SessionState::active);
    CHECK_FALSE(gives(gateway.client));
    await([&] { return gives(gateway.client); }, "the short window is never over");
    gateway.client.want();
    await([&] { return gateway.client.ask().answers == 1; }, "no answer");
    CHECK(gateway.client.admitted());
    CHECK_FALSE(gives(other));
    CHECK_FALSE(other.admitted());
    CHECK(gateway.store.trust());
    await([&] { return gives(other); }, "the store does not trust");
    await([&] { return other.admitted(); }, "no share"); // a call in vain delays the next one
}

TEST_CASE("a gateway with many shares ends its session in order, however long that takes") {
    if (no_server())
        return;
    const RedisProcess server;
    Gateway gateway{settings(server, "a")};
    gateway.await_admission();
    Terms terms;
    terms.key = "header x-key";
    terms.per = 1h;
    std::vector<std::unique_ptr<Client>> clients;
    CHECK(gateway.store.trust());
    for (int i = 0; i < 6000; ++i) {
        clients.push_back(std::make_unique<Client>(gateway.store, terms, std::to_string(i)));
        gateway.store.serve(clients.back()->limit(), OnStoreFailure::share);
        clients.back()->want();
        if (i % 500 == 499)
            await([&] { return clients.back()->ask().answers == 1; }, "no answer");
    }
    for (const auto& each : clients)
        await([&] { return each->ask().answers == 1; }, "no answer");
    const std::string session = gateway.store.state().session_name;
    gateway.store.stop(100ms); // of silence
    CHECK(contains(ask(server, "HGET '{test}:r' s:" + session), " d "));
}

TEST_CASE("a server that is down cannot be told to trust") {
    if (no_server())
        return;
    RedisProcess server;
    auto lasting = settings(server, "a");
    lasting.time_to_live = 4s;
    Gateway gateway{lasting};
    gateway.await_admission();
    CHECK(gateway.store.trust());
    server.kill();
    await([&] { return !gateway.store.state().up; }, "the end of the server is not noticed");
    CHECK(gateway.store.state().session == SessionState::active);
    CHECK_FALSE(gateway.store.trust());
}

TEST_CASE(
    "a gateway that stops gives its share to the others at once; no key is told in the store") {
    if (no_server())
        return;
    const RedisProcess server;
    Terms terms;
    terms.key = "header x-api-key";
    const std::string key = "sk-4711-secret";
    Gateway first{settings(server, "a"), terms, OnStoreFailure::share, key};
    Gateway second{settings(server, "b"), terms, OnStoreFailure::share, key};
    first.await_admission();
    await([&] { return first.client.share() == 100; }, "one gateway does not get all");
    const std::string session = first.store.state().session_name;
    const std::string counter =
        CounterNames{"test", ""}.counter(first.client.limit()->identity(), key);
    CHECK(contains(ask(server, "HGET '" + counter + "' " + session), "100:"));
    const std::string all = everything(server);
    CHECK(contains(all, "{test}:r"));
    CHECK(contains(all, "{test}:c:"));
    for (const char* const secret : {"sk-4711", "secret", "x-api-key"}) // no hexadecimal digits
        CHECK_FALSE(contains(all, secret));
    CHECK(first.store.limits() == 1);

    first.store.stop();
    const std::string left = ask(server, "HGET '" + counter + "' " + session);
    CHECK((left == "\n" || contains(left, ":0:"))); // no more than is in use
    CHECK_FALSE(contains(left, "100:"));
    const std::string state = ask(server, "HGET '{test}:r' s:" + session);
    CHECK(contains(state, " d ")); // nobody waits for it
    CHECK(first.client.share() == 0);
    CHECK_FALSE(first.client.admitted());
    second.await_admission();
    const auto has_all = [&] {
        (void)second.client.admitted();
        return second.client.share() == 100;
    };
    await(has_all, "the other does not get all");
}

TEST_CASE("a share that is not used goes to the gateway that asks for it") {
    if (no_server())
        return;
    const RedisProcess server;
    Gateway first{settings(server, "a")};
    Gateway second{settings(server, "b")};
    first.await_admission();
    await([&] { return first.client.share() == 100; }, "one gateway does not get all");
    std::this_thread::sleep_for(700ms); // its demand is over
    const auto has_most = [&] {
        (void)second.client.admitted();
        return second.client.share() >= 90;
    };
    await(has_most, "the other does not get it");
    CHECK(first.client.share() + second.client.share() <= 100);
}

TEST_CASE("a time without gateways is no step of the server's clock") {
    if (no_server())
        return;
    const RedisProcess server;
    std::string epoch;
    {
        Gateway first{settings(server, "a")};
        first.await_admission();
        epoch = first.store.state().epoch;
    }
    for (const char* const field : {"shift", "highest"}) // TIME is a minute later
        (void)ask(server, std::string{"HINCRBY {test}:r "} + field + " 60000");
    Gateway second{settings(server, "b")};
    second.await_admission();
    CHECK(second.store.state().epoch == epoch);
}

TEST_CASE("a wrong password") {
    if (no_server())
        return;
    const RedisProcess server{{"--requirepass", "right"}};
    StoreSettings with = settings(server, "gw");
    with.password = "wrong";
    Gateway wrong{with};
    await([&] { return !wrong.store.state().last_error.empty(); }, "no error is told");
    CHECK(contains(wrong.store.state().last_error, "WRONGPASS"));
    CHECK_FALSE(wrong.store.state().up);
    CHECK_FALSE(wrong.client.admitted());
    with.password = "right";
    Gateway right{with};
    right.await_session(SessionState::active);
    CHECK(right.store.state().up);
}

TEST_CASE("a server that evicts keys is not used, until it evicts none") {
    if (no_server())
        return;
    const RedisProcess server{{"--maxmemory-policy", "allkeys-lru"}};
    StoreSettings with = settings(server, "b");
    with.assume_noeviction = true;
    Gateway gateway{settings(server, "a")};
    Gateway assuming{with};
    await([&] { return gateway.store.state().up; }, "the server does not answer");
    CHECK(contains(gateway.store.state().unfit, "allkeys-lru"));
    assuming.await_session(SessionState::active);
    CHECK(assuming.store.state().unfit.empty());
    CHECK(gateway.store.counters().calls == 0);
    CHECK_FALSE(gateway.client.admitted());

    CHECK(ask(server, "CONFIG SET maxmemory-policy noeviction") == "OK\n");
    gateway.await_session(SessionState::active);
    CHECK(gateway.store.state().unfit.empty());
}

TEST_CASE("a server whose memory is full") {
    if (no_server())
        return;
    const RedisProcess server;
    Gateway gateway{settings(server, "gw")};
    gateway.await_admission();
    CHECK(ask(server, "CONFIG SET maxmemory 1") == "OK\n");
    await([&] { return contains(gateway.store.state().last_error, "OOM"); }, "it goes unnoticed");
    await([&] { return gateway.client.share() == 0; }, "the share outlives the session");
    CHECK(gateway.store.state().up);
    CHECK(ask(server, "CONFIG SET maxmemory 0") == "OK\n");
    gateway.await_admission();
}

TEST_CASE("without the store `closed` admits nothing, and `share` its share until its end") {
    if (no_server())
        return;
    const RedisProcess server;
    StoreSettings first = settings(server, "a");
    StoreSettings second = settings(server, "b");
    first.time_to_live = second.time_to_live = 1200ms;
    Gateway closed{first, {.name = "closed"}, OnStoreFailure::closed};
    Gateway shared{second, {.name = "shared"}, OnStoreFailure::share};
    closed.await_admission();
    shared.await_admission();
    await(
        [&] { return closed.client.share() == 100 && shared.client.share() == 100; },
        "one gateway does not get all");
    server.signal(SIGSTOP);
    await([&] { return closed.client.share() == 0; }, "it stays open");
    CHECK(shared.client.share() == 100);
    await([&] { return shared.client.share() == 0; }, "the share outlives the session");
    server.signal(SIGCONT);
    closed.await_admission();
    shared.await_admission();
}
