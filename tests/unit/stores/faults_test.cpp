// A server that fails under load: never above the number, and the gateways go on.
#include "crowd.hpp"

#include <csignal>
#include <filesystem>

using namespace stint;
using namespace stint::stores;
using namespace stint::stores::test;
using limits::Algorithm;

namespace {

std::vector<Terms> two_limits() {
    return {
        {.name = "sliding", .number = 200, .per = 300ms},
        {.name = "bucket",
         .algorithm = Algorithm::token_bucket,
         .number = 200,
         .burst = 40,
         .per = 300ms}};
}

void await_all_up(Crowd& crowd, std::size_t gateways) {
    for (std::size_t i = 0; i < gateways; ++i)
        await([&] { return crowd.store(i).state().asking; }, "a gateway has no session");
}

void kill_and_start(Crowd& crowd, RedisProcess& server) {
    server.kill();
    await([&] { return !crowd.store(0).state().up; }, "the end of the server is not noticed");
    std::this_thread::sleep_for(100ms);
    server.start();
    await_all_up(crowd, 3);
    std::this_thread::sleep_for(300ms);
    crowd.await_admissions();
}

} // namespace

TEST_CASE("a server is killed and starts again, first with its data, then without them") {
    if (no_server())
        return;
    RedisProcess server{{"--appendonly", "yes", "--appendfsync", "always"}};
    auto patient = settings_of(server, 3);
    for (StoreSettings& each : patient)
        each.timeout = 500ms; // a server that is slow beside other tests is not down
    Crowd crowd{patient, two_limits()};
    crowd.await_admissions();
    kill_and_start(crowd, server);
    CHECK(contains(ask(server, "KEYS '*'"), "{test}:r"));
    CHECK(ask(server, "CONFIG SET appendonly no") == "OK\n");
    std::filesystem::remove_all(server.folder().path() / "appendonlydir");
    kill_and_start(crowd, server);
    crowd.stop();
    crowd.check_promises();
    CHECK(crowd.store(0).state().times_up == 3);
    CHECK(crowd.store(0).counters().downs == 2);
}

TEST_CASE("a server is stopped for longer than the sessions live, and goes on") {
    if (no_server())
        return;
    const RedisProcess server;
    Crowd crowd{settings_of(server, 3), two_limits()};
    crowd.await_admissions();
    std::this_thread::sleep_for(300ms);
    server.signal(SIGSTOP);
    std::this_thread::sleep_for(3s);
    CHECK_FALSE(crowd.store(1).state().asking);
    const std::size_t before = crowd.row(0).count();
    std::this_thread::sleep_for(20ms);
    CHECK(crowd.row(0).count() == before); // the shares have ended
    server.signal(SIGCONT);
    await_all_up(crowd, 3);
    std::this_thread::sleep_for(300ms);
    crowd.await_admissions();
    crowd.stop();
    crowd.check_promises();
}

TEST_CASE("the server forgets the script, then everything; then a gateway is cut off and dies") {
    if (no_server())
        return;
    const RedisProcess server{{"--user", "cut", "on", ">word", "~*", "&*", "+@all"}};
    std::vector<StoreSettings> gateways = settings_of(server, 3);
    gateways[2].user = "cut";
    gateways[2].password = "word";
    Crowd crowd{gateways, two_limits()};
    await_all_up(crowd, 3);
    crowd.await_admissions();
    for (const char* const forget : {"SCRIPT FLUSH", "FLUSHALL"}) {
        CHECK(ask(server, forget) == "OK\n");
        std::this_thread::sleep_for(300ms);
        await_all_up(crowd, 3);
        crowd.await_admissions();
    }
    CHECK(crowd.store(2).counters().downs == 0);
    CHECK(crowd.store(2).counters().sessions == 1);

    CHECK(ask(server, "ACL SETUSER cut off") == "OK\n");
    CHECK(ask(server, "CLIENT KILL USER cut") != "0\n");
    std::this_thread::sleep_for(1500ms);
    CHECK_FALSE(crowd.store(2).state().asking);
    CHECK(ask(server, "ACL SETUSER cut on") == "OK\n");
    await_all_up(crowd, 3);
    std::this_thread::sleep_for(300ms);
    crowd.stop();
    crowd.check_promises();
    CHECK(crowd.store(2).counters().sessions == 2);
    CHECK(crowd.store(0).counters().sessions == 1);
}
