// Nodes of a Cluster that the test plays.
#include "fixture.hpp"
#include "net/clock.hpp"
#include "redis/cluster_watch.hpp"
#include "redis/store_client.hpp"
#include "redis/watched_addresses.hpp"
#include "store_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace stint::redis;
using namespace stint::redis::test;
using stint::test::run_until;

namespace {

constexpr std::size_t nodes = 4;

// A Cluster whose first three nodes own slots; the gateway knows the second one.
struct PlayedCluster : PrimaryWatch::Watcher {
    PlayedCluster() {
        for (std::size_t i = 0; i < nodes; ++i) {
            listening.push_back(std::make_unique<ListeningWire>(loop));
            const std::string text = listening.back()->text();
            servers.push_back(
                {"127.0.0.1",
                 static_cast<std::uint16_t>(std::stoul(text.substr(text.rfind(':') + 1)))});
        }
        watch.emplace(
            loop.get_executor(),
            ClusterWatchSettings{
                .slot = 7,
                .nodes = {servers[1]},
                .link = quick(),
                .times =
                    {.interval = std::chrono::seconds{60}, .validity = std::chrono::seconds{60}}},
            *this);
    }
    void on_voters() override { ++told; }

    Wire accept(std::size_t node) {
        Wire far = listening[node]->accept();
        far.read_until("SETNAME\r\n$5\r\nstint\r\n");
        far.send(hello3);
        return far;
    }
    // Takes a question, and answers it. primaries: their numbers; the first owns the slot.
    void say(Wire& far, std::size_t node, const std::vector<std::size_t>& primaries) {
        far.read_until("CLUSTER\r\n$5\r\nSLOTS\r\n");
        const int before = told;
        std::string answer = bulk(id(node)) + "%1\r\n" + bulk("cluster-node-timeout") +
                             bulk("15000") + "*" + std::to_string(primaries.size()) + "\r\n";
        int first = 0;
        for (const std::size_t each : primaries) {
            answer += "*3\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(first + 999) +
                      "\r\n*3\r\n" + bulk("127.0.0.1") + ":" + std::to_string(servers[each].port) +
                      "\r\n" + bulk(id(each));
            first += 1'000;
        }
        far.send(answer);
        run_until(loop, [&] { return told > before; });
    }
    static std::string id(std::size_t node) {
        return std::string(40, static_cast<char>('a' + node));
    }
    [[nodiscard]] std::optional<HostPort> primary() const {
        return watch->primary(stint::net::read_steady_clock());
    }

    stint::net::asio::io_context loop;
    std::vector<std::unique_ptr<ListeningWire>> listening;
    std::vector<HostPort> servers;
    int told = 0;
    std::optional<ClusterWatch> watch; // goes first
};

} // namespace

TEST_CASE("the other primaries are found through one node, and asked") {
    PlayedCluster played;
    Wire second = played.accept(1);
    played.say(second, 1, {0, 1, 2});
    CHECK_FALSE(played.primary());
    CHECK(played.watch->failure(stint::net::read_steady_clock())
              .starts_with("no majority of 3 primaries of the Cluster names an owner of slot 7 (1 "
                           "have answered)"));
    Wire first = played.accept(0);
    played.say(first, 0, {0, 1, 2}); // counts not for itself
    CHECK_FALSE(played.primary());
    Wire third = played.accept(2);
    played.say(third, 2, {0, 1, 2});
    CHECK(played.primary() == played.servers[0]);
    const auto state = played.watch->state();
    REQUIRE(state.size() == 3);
    CHECK(state[0].names == played.servers[0].text());
    CHECK(state[0].down_after == std::chrono::seconds{15});
}

TEST_CASE("a replica that takes a slot over is followed, and the former owner is left") {
    PlayedCluster played;
    Wire second = played.accept(1);
    played.say(second, 1, {0, 1, 2});
    Wire first = played.accept(0);
    played.say(first, 0, {0, 1, 2});
    Wire third = played.accept(2);
    played.say(third, 2, {0, 1, 2});
    played.watch->follow(played.servers[0]);
    CHECK(played.watch->confirms(stint::net::read_steady_clock()));

    played.watch->ask_all(false);
    played.say(second, 1, {3, 1, 2});
    CHECK_FALSE(played.primary()); // neither
    CHECK_FALSE(played.watch->confirms(stint::net::read_steady_clock()));
    played.say(third, 2, {3, 1, 2});
    CHECK(played.primary() == played.servers[3]);
    played.say(first, 0, {0, 1, 2}); // it does not know
    CHECK(played.primary() == played.servers[3]);
    Wire fourth = played.accept(3);
    played.say(fourth, 3, {3, 1, 2});
    // Nobody names the former owner any more but itself.
    played.watch->ask_all(false);
    played.say(first, 0, {3, 1, 2});
    run_until(played.loop, [&] { return played.watch->state().size() == 3; });
    CHECK(played.primary() == played.servers[3]);
}

TEST_CASE("what the owner names for the time of a migration is followed, until it ends") {
    PlayedCluster played;
    Wire second = played.accept(1);
    played.say(second, 1, {0, 1, 2});
    Wire first = played.accept(0);
    played.say(first, 0, {0, 1, 2});
    Wire third = played.accept(2);
    played.say(third, 2, {0, 1, 2});

    WatchedAddresses source{played.loop.get_executor(), *played.watch, ""};
    const auto found = [&] {
        std::optional<AddressSource::Answer> answer;
        source.find([&](const AddressSource::Answer& each) { answer = each; });
        run_until(played.loop, [&] { return answer.has_value(); });
        return answer->address.text + (answer->address.asking ? " asking" : "");
    };
    const std::string owner = played.servers[0].text();
    const std::string next = played.servers[3].text();
    CHECK(found() == owner);
    source.note_redirect("ASK 7 " + next);
    source.note_failure();
    CHECK(found() == next + " asking");
    // Those that know of the migration only when it is over still name the owner.
    CHECK(played.watch->confirms(stint::net::read_steady_clock()));
    source.note_failure(); // "MOVED", or the end of the connection
    CHECK(found() == owner);

    source.note_redirect("ASK 7 " + next);
    source.note_failure();
    CHECK(found() == next + " asking");
    played.say(second, 1, {3, 1, 2, 0}); // note_redirect() has had them asked
    played.say(third, 2, {3, 1, 2, 0});
    played.say(first, 0, {3, 1, 2, 0});
    CHECK(found() == next);
    for (const std::string text : {"ASK 7 nonsense", "ASK 7 a:0", "ASK 7 a:65536", "ASK"}) {
        source.note_redirect(text);
        source.note_failure();
        CHECK(found() == next);
    }
}
