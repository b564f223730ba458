// The first of several addresses that answers.
#include "net/address.hpp"
#include "net/io.hpp"
#include "upstream/race.hpp"
#include "wire.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace stint::upstream;
namespace net = stint::net;
using stint::test::ListeningWire;
using stint::test::RefusingAddress;

namespace {

net::Task<> run(Race& race, std::optional<stint::ErrorCode>& result) {
    result = co_await race.run();
}

stint::ErrorCode run(net::asio::io_context& loop, Race& race) {
    std::optional<stint::ErrorCode> result;
    net::spawn(loop.get_executor(), run(race, result));
    stint::test::run_until(loop, [&] { return result.has_value(); });
    return *result;
}

// TEST-NET-1 (RFC 5737): where it is not refused at once nobody answers.
net::Endpoint silent() {
    return *net::ip_endpoint("192.0.2.1", 9);
}

std::vector<std::string> hosts_in_turn(std::vector<std::string> hosts) {
    std::vector<net::Endpoint> addresses;
    for (const std::string& host : hosts)
        addresses.push_back(*net::ip_endpoint(host, 80));
    hosts.clear();
    for (const net::Endpoint& address : interleave(std::move(addresses)))
        hosts.push_back(net::to_text(address));
    return hosts;
}

} // namespace

TEST_CASE("families take turns, beginning with the first address's") {
    using Hosts = std::vector<std::string>;
    CHECK(
        hosts_in_turn({"::1", "::2", "::3", "10.0.0.1", "10.0.0.2"}) ==
        Hosts{"[::1]:80", "10.0.0.1:80", "[::2]:80", "10.0.0.2:80", "[::3]:80"});
    CHECK(
        hosts_in_turn({"10.0.0.1", "::1", "::2"}) == Hosts{"10.0.0.1:80", "[::1]:80", "[::2]:80"});
    CHECK(hosts_in_turn({"10.0.0.1", "10.0.0.2"}) == Hosts{"10.0.0.1:80", "10.0.0.2:80"});
    CHECK(hosts_in_turn({}).empty());
}

TEST_CASE("an address that refuses makes room for the next at once") {
    net::asio::io_context loop;
    ListeningWire listening{loop};
    const RefusingAddress closed;
    const RefusingAddress also_closed;
    Race race{loop.get_executor(), {closed.address(), also_closed.address(), listening.address()}};

    REQUIRE_FALSE(run(loop, race));

    stint::ErrorCode error;
    const net::Socket winner = race.take_winner();
    CHECK(net::to_text(winner.remote_endpoint(error)) == listening.text());
}

TEST_CASE("where all addresses fail the error is the last one's") {
    net::asio::io_context loop;
    const RefusingAddress closed;
    const RefusingAddress also_closed;
    Race race{loop.get_executor(), {closed.address(), also_closed.address()}};

    CHECK(run(loop, race) == net::asio::error::connection_refused);
}

TEST_CASE("an address that is silent does not hold up the next one") {
    net::asio::io_context loop;
    ListeningWire listening{loop};
    Race race{loop.get_executor(), {silent(), listening.address()}};

    CHECK_FALSE(run(loop, race));
    CHECK(listening.called());
}

TEST_CASE("giving up ends a race at once, and no further address is tried") {
    net::asio::io_context loop;
    ListeningWire listening{loop};
    Race race{loop.get_executor(), {silent(), listening.address()}};
    std::optional<stint::ErrorCode> result;
    net::spawn(loop.get_executor(), run(race, result));
    loop.poll();
    if (listening.called())
        return; // no route to the silent one from here: the next was tried at once

    race.give_up();

    stint::test::run_until(loop, [&] { return result.has_value(); });
    CHECK(*result == net::asio::error::operation_aborted);
    CHECK_FALSE(listening.called());
}
