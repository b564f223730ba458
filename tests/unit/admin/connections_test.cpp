#include "admin/connections.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace stint;
using namespace stint::admin;

struct Client final : Bounded {
    bool closed = false;

  private:
    void close() noexcept override { closed = true; }
};

SteadyTime at(Duration since_start) {
    return SteadyTime{1h + since_start};
}

} // namespace

TEST_CASE("a client that waits too long is closed, at its time and not before") {
    Client client;
    Connections connections{2, 30s};
    connections.begin(client, at(0s));

    connections.expire(at(29'999ms));
    CHECK_FALSE(client.closed);

    connections.expire(at(30s));
    CHECK(client.closed);
    CHECK(connections.size() == 0);
}

TEST_CASE("a client that begins something new has its time anew") {
    Client busy;
    Client idle;
    Connections connections{2, 30s};
    connections.begin(busy, at(0s));
    connections.begin(idle, at(1s));
    connections.begin(busy, at(20s));

    connections.expire(at(31s));

    CHECK(idle.closed);
    CHECK_FALSE(busy.closed);
}

TEST_CASE("one too many closes the first to come, however busy it is") {
    std::vector<std::unique_ptr<Client>> clients;
    Connections connections{3, 30s};
    for (int i = 0; i < 3; ++i)
        connections.begin(*clients.emplace_back(std::make_unique<Client>()), at(i * 1s));
    connections.begin(*clients[0], at(5s));

    Client newcomer;
    connections.begin(newcomer, at(6s));

    CHECK_FALSE(newcomer.closed);
    CHECK(clients[0]->closed);
    CHECK_FALSE(clients[1]->closed);
    CHECK_FALSE(clients[2]->closed);
    CHECK(connections.size() == 3);
}

TEST_CASE("a client that has gone takes no room") {
    Connections connections{1, 30s};
    Client staying;
    {
        Client gone;
        connections.begin(gone, at(0s));
    }
    connections.begin(staying, at(1s));

    CHECK(connections.size() == 1);
    CHECK_FALSE(staying.closed);
}

TEST_CASE("all are closed at the end") {
    Client first;
    Client second;
    Connections connections{2, 30s};
    connections.begin(first, at(0s));
    connections.begin(second, at(0s));

    connections.close_all();

    CHECK(first.closed);
    CHECK(second.closed);
    CHECK(connections.size() == 0);
}
