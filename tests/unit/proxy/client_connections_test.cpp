// Bounds on the connections of one client.
#include "fixture.hpp"
#include "server/client_connections.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace stint;
using namespace stint::test;
using server::ClientConnections;

namespace {

constexpr Hash128 one{1, 1};
constexpr Hash128 another{1, 2}; // in the same shard

std::string with(std::string_view lines) {
    return std::string{lines} + "\n" + std::string{plain};
}

constexpr std::string_view two_each = "max_connections_per_client: 2";

std::uint64_t turned_away(InProcessGateway& gateway) {
    return gateway.context().counters.rejected_per_client;
}

} // namespace

TEST_CASE("a client has so many places and no more, whoever else has some") {
    ClientConnections table;

    const auto first = table.enter(one, 2);
    const auto second = table.enter(one, 2);

    CHECK(first);
    CHECK(second);
    CHECK_FALSE(table.enter(one, 2));
    CHECK(table.enter(another, 2));
}

TEST_CASE("a place that is given back can be taken again, and only living ones are counted") {
    ClientConnections table;
    {
        const auto first = table.enter(one, 1);
        REQUIRE_FALSE(table.enter(one, 1));
        auto moved = table.enter(another, 1);
        const auto to = std::move(moved);
        CHECK(table.clients() == 2);
    }

    CHECK(table.clients() == 0);
    CHECK(table.enter(one, 1));
}

TEST_CASE("places are exact when all threads take them at once") {
    ClientConnections table;
    std::vector<ClientConnections::Slot> places[4];
    {
        std::vector<std::jthread> threads;
        for (auto& mine : places)
            threads.emplace_back([&table, &mine] {
                for (int i = 0; i < 1000; ++i)
                    if (auto place = table.enter(one, 1500))
                        mine.push_back(std::move(place));
            });
    }
    std::size_t taken = 0;
    for (auto& mine : places)
        taken += mine.size();
    CHECK(taken == 1500);
    {
        std::vector<std::jthread> threads;
        for (auto& mine : places)
            threads.emplace_back([&mine] { mine.clear(); });
    }
    CHECK(table.clients() == 0);
}

TEST_CASE("one connection more than a client may have is answered 429, readable to its end") {
    InProcessGateway gateway{with(two_each)};
    Wire first = gateway.connect();
    Wire second = gateway.connect();
    gateway.settle();

    Wire third = gateway.connect();
    third.send(get); // on its way while the answer is
    gateway.settle();
    third.send(get);
    const std::string answer = third.read_to_end();

    CHECK(answer.starts_with("HTTP/1.1 429 Too Many Requests\r\n"));
    CHECK(has(answer, "\r\nRetry-After: 1\r\n"));
    CHECK(has(answer, "\r\nConnection: close\r\n"));
    CHECK(has(answer, "\r\nContent-Type: application/problem+json\r\n"));
    CHECK(answer.ends_with("\"detail\":\"max_connections_per_client is reached\"}\n"));
    CHECK(turned_away(gateway) == 1);
    CHECK_FALSE(gateway.upstream.called());
    first.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    CHECK(read_response(first).ends_with("hi"));
}

TEST_CASE("a connection that has ended makes room for the client's next") {
    InProcessGateway gateway{with("max_connections_per_client: 1")};
    {
        Wire first = gateway.connect();
        gateway.settle();
    }
    gateway.run_until([&] { return gateway.context().connections.empty(); });

    Wire second = gateway.connect();
    second.send(get);

    gateway.upstream.accept().read_head();
    CHECK(turned_away(gateway) == 0);
    CHECK(gateway.context().shared().clients.clients() == 1);
}

TEST_CASE("one that was turned away and stays has no place") {
    InProcessGateway gateway{with("max_connections_per_client: 1")};
    std::vector<Wire> others;
    {
        Wire first = gateway.connect();
        gateway.settle();
        for (int i = 0; i < 3; ++i)
            others.push_back(gateway.connect());
        gateway.settle();
        REQUIRE(turned_away(gateway) == 3);
    }
    gateway.run_until([&] { return gateway.context().shared().clients.clients() == 0; });

    Wire next = gateway.connect();
    next.send(get);

    gateway.upstream.accept().read_head();
    gateway.pass(1s); // for those that linger
    CHECK(others.front().closed());
}

TEST_CASE("one that is turned away does not linger where connections run out") {
    InProcessGateway gateway{with("max_connections: 10\nmax_connections_per_client: 9")};
    std::vector<Wire> clients;
    for (int i = 0; i < 9; ++i)
        clients.push_back(gateway.connect());
    gateway.settle();

    Wire surplus = gateway.connect();
    gateway.run_until([&] { return gateway.context().shared().connections == 9; });

    CHECK(surplus.read_to_end().starts_with("HTTP/1.1 429 "));
}

TEST_CASE("what a client is, is a network of the configured length") {
    // 127.0.0.1 is that of every connection here: one network of 8 bits.
    InProcessGateway gateway{with("ipv4_prefix: 8\nmax_connections_per_client: 1")};
    Wire first = gateway.connect();
    gateway.settle();

    CHECK(gateway.connect().read_head().starts_with("HTTP/1.1 429 "));
}

TEST_CASE("trusted proxies may have as many connections as they like") {
    InProcessGateway gateway{with(std::string{two_each} + "\ntrusted_proxies: [127.0.0.0/8]")};
    std::vector<Wire> all;
    for (int i = 0; i < 5; ++i)
        all.push_back(gateway.connect());
    gateway.settle();

    CHECK(turned_away(gateway) == 0);
    CHECK(gateway.context().shared().clients.clients() == 0);
}

TEST_CASE("behind a PROXY header the client that it names is counted") {
    InProcessGateway gateway{
        with("max_connections_per_client: 1\ntrusted_proxies: [127.0.0.1]"),
        {.proxy_protocol = true}};
    Wire one_client = gateway.connect();
    one_client.send("PROXY TCP4 192.0.2.1 10.0.0.1 4711 80\r\n");
    gateway.settle();
    Wire other_client = gateway.connect();
    other_client.send("PROXY TCP4 192.0.2.2 10.0.0.1 4711 80\r\n");
    gateway.settle();
    Wire health_check = gateway.connect();
    health_check.send("PROXY UNKNOWN\r\n");
    gateway.settle();
    CHECK(turned_away(gateway) == 0);

    Wire again = gateway.connect();
    again.send("PROXY TCP4 192.0.2.1 10.0.0.1 4712 80\r\n" + std::string{get});

    CHECK(again.read_to_end().starts_with("HTTP/1.1 429 "));
}

TEST_CASE("without a bound nobody is counted") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    gateway.settle();

    CHECK(gateway.context().shared().clients.clients() == 0);
}
