// Sentinels that the test plays.
#include "fixture.hpp"
#include "net/address.hpp"
#include "net/clock.hpp"
#include "redis/sentinel_watch.hpp"
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

constexpr int patient = 60; // seconds

std::string answers(const std::string& id, const std::string& port, int others = 2) {
    return bulk(id) + "%3\r\n" + bulk("ip") + bulk("127.0.0.1") + bulk("num-other-sentinels") +
           bulk(std::to_string(others)) + bulk("down-after-milliseconds") + bulk("500") + "*2\r\n" +
           bulk("127.0.0.1") + bulk(port);
}

struct PlayedSentinels : PrimaryWatch::Watcher {
    explicit PlayedSentinels(std::chrono::milliseconds interval = std::chrono::seconds{patient}) {
        SentinelWatchSettings of{
            .master = "mymaster",
            .link = quick(),
            .times = {.interval = interval, .validity = std::chrono::seconds{patient}}};
        for (int i = 0; i < 3; ++i) {
            listening.push_back(std::make_unique<ListeningWire>(loop));
            const std::string text = listening.back()->text();
            const auto port = std::stoul(text.substr(text.rfind(':') + 1));
            of.servers.push_back({"127.0.0.1", static_cast<std::uint16_t>(port)});
        }
        watch.emplace(loop.get_executor(), std::move(of), *this);
    }
    void on_voters() override { ++told; }

    Wire accept(std::size_t sentinel) {
        Wire far = listening[sentinel]->accept();
        far.read_until("SETNAME\r\n$5\r\nstint\r\n");
        far.send(hello3);
        return far;
    }
    // Takes a question, and answers it.
    void say(Wire& far, const std::string& id, const std::string& port, int others = 2) {
        far.read_until("GET-MASTER-ADDR-BY-NAME\r\n$8\r\nmymaster\r\n");
        const int before = told;
        far.send(answers(id, port, others));
        run_until(loop, [&] { return told > before; });
    }
    void subscribed(Wire& far) {
        far.read_until("SUBSCRIBE\r\n$14\r\n+switch-master\r\n");
        far.send(">3\r\n+subscribe\r\n+switch-master\r\n:1\r\n");
    }
    [[nodiscard]] std::string primary() const {
        const auto named = watch->primary(stint::net::read_steady_clock());
        return named ? named->text() : "";
    }

    stint::net::asio::io_context loop;
    std::vector<std::unique_ptr<ListeningWire>> listening;
    int told = 0;
    std::optional<SentinelWatch> watch; // goes first
};

} // namespace

TEST_CASE("a majority of the Sentinels names the primary") {
    PlayedSentinels played;
    Wire first = played.accept(0);
    played.say(first, "a", "6379");
    CHECK(played.primary().empty());
    CHECK(played.watch->failure(stint::net::read_steady_clock())
              .starts_with("no majority of 3 Sentinels names a primary of mymaster (1 have"));
    Wire second = played.accept(1);
    played.say(second, "b", "6379");
    CHECK(played.primary() == "127.0.0.1:6379");
    CHECK(played.watch->state()[0].names == "127.0.0.1:6379");
    CHECK(played.watch->state()[0].up);
    CHECK(played.watch->state()[0].down_after == 500ms);
}

TEST_CASE("after one Sentinel has published a switch all are asked at once") {
    PlayedSentinels played;
    Wire first = played.accept(0);
    played.say(first, "a", "6379");
    played.subscribed(first);
    Wire second = played.accept(1);
    played.say(second, "b", "6379");
    played.subscribed(second);
    played.watch->follow({"127.0.0.1", 6379});
    CHECK(played.watch->confirms(stint::net::read_steady_clock()));

    first.send(">3\r\n+message\r\n+switch-master\r\n+mymaster\r\n");
    played.say(first, "a", "6380");
    CHECK_FALSE(played.watch->confirms(stint::net::read_steady_clock()));
    CHECK(played.primary().empty());
    played.say(second, "b", "6380");
    CHECK(played.primary() == "127.0.0.1:6380");
}

TEST_CASE("a switch that is published while a question is on its way asks once more after it") {
    PlayedSentinels played;
    Wire first = played.accept(0);
    first.read_until("GET-MASTER-ADDR-BY-NAME\r\n$8\r\nmymaster\r\n");
    first.send(
        bulk("a") + ">3\r\n+message\r\n+switch-master\r\n+mymaster\r\n" +
        answers("a", "6379").substr(bulk("a").size()));
    played.subscribed(first);
    played.say(first, "a", "6380");
    CHECK(played.watch->state()[0].names == "127.0.0.1:6380");
}

TEST_CASE("the Sentinels are asked again after each interval") {
    PlayedSentinels played{std::chrono::milliseconds{1}};
    Wire first = played.accept(0);
    played.say(first, "a", "6379");
    played.subscribed(first);
    for (const char* const port : {"6380", "6381"})
        played.say(first, "a", port);
    CHECK(played.watch->state()[0].names == "127.0.0.1:6381");
}

TEST_CASE("a Sentinel that gives no answer of use says why") {
    PlayedSentinels played;
    Wire far = played.accept(0);
    far.read_until("GET-MASTER-ADDR-BY-NAME\r\n$8\r\nmymaster\r\n");
    std::string error;
    SUBCASE("no such master") {
        error = "ERR No such master with that name";
        far.send(bulk("a") + "-" + error + "\r\n_\r\n");
    }
    SUBCASE("no permission") {
        error = "NOPERM no";
        far.send(std::string{"-NOPERM no\r\n"} + answers("a", "6379").substr(bulk("a").size()));
    }
    SUBCASE("no number of others") {
        error = "it tells no Sentinels";
        far.send(bulk("a") + "%0\r\n*2\r\n" + bulk("127.0.0.1") + bulk("6379"));
    }
    SUBCASE("no port") {
        error = "its answer is no address";
        far.send(answers("a", "70000"));
    }
    SUBCASE("it hangs up") {
        error = "closed by the server";
        far.close();
    }
    run_until(played.loop, [&] { return played.told > 0; });
    CHECK(played.watch->state()[0].error.ends_with(error));
    CHECK(played.watch->state()[0].names.empty());
    CHECK(played.watch->failure(stint::net::read_steady_clock()).ends_with(error));
}

TEST_CASE("a connection goes to the primary that the Sentinels name, and follows it at once") {
    PlayedSentinels played;
    const auto port_of = [](const ListeningWire& wire) {
        return wire.text().substr(wire.text().rfind(':') + 1);
    };
    ListeningWire former{played.loop};
    ListeningWire later{played.loop};
    Store store{played.loop};
    store.script = "lua";
    // A pause would outlast the test.
    store.open_at(
        std::make_unique<WatchedAddresses>(played.loop.get_executor(), *played.watch, ""),
        {settings(), std::chrono::hours{1}, std::chrono::hours{1}});
    const auto accept = [&](ListeningWire& wire) {
        Wire far = wire.accept();
        far.read_until("SETNAME\r\n$5\r\nstint\r\n");
        far.send(hello3);
        return far;
    };
    Wire first = played.accept(0);
    played.say(first, "a", port_of(former));
    CHECK_FALSE(former.called()); // one of three
    Wire second = played.accept(1);
    played.say(second, "b", port_of(former));
    std::optional<Wire> server{accept(former)};
    CHECK(played.watch->confirms(stint::net::read_steady_clock()));
    SUBCASE("from a connection") {}
    SUBCASE("from a pause") {
        server->close();
        run_until(played.loop, [&] { return store.downs == 1; });
    }
    played.subscribed(first);
    played.subscribed(second);
    first.send(">3\r\n+message\r\n+switch-master\r\n+mymaster\r\n");
    played.say(first, "a", port_of(later));
    played.say(second, "b", port_of(later));
    store.client->change_address("another one");
    Wire next = accept(later);
    CHECK(played.watch->confirms(stint::net::read_steady_clock()));
    store.client.reset();
}

TEST_CASE("a search without a majority ends, and says why") {
    PlayedSentinels played;
    WatchedAddresses source{played.loop.get_executor(), *played.watch, ""};
    std::optional<AddressSource::Answer> found;
    source.find([&](const AddressSource::Answer& answer) { found = answer; });
    run_until(played.loop, [&] { return found.has_value(); });
    CHECK(found->failure.starts_with("no majority of 3 Sentinels names a primary of mymaster"));
}
