// What follows a 101: bytes both ways until both have ended.
#include "server/http1_connection.hpp"
#include "tunnel.hpp"

#include <utility>

using namespace stint::test;

TEST_CASE("either side may close first, and the other way goes on until its own end") {
    Tunnel tunnel;
    tunnel.open();
    Wire* first = &tunnel.client;
    Wire* second = &tunnel.upstream;
    SUBCASE("the client") {}
    SUBCASE("the upstream") {
        std::swap(first, second);
    }
    first->send("last words");

    first->shutdown_send();

    CHECK(second->read_to_end() == "last words");
    second->send("an answer");
    CHECK(first->read(9) == "an answer");
    CHECK(tunnel.gateway.limit("slot").in_flight() == 1);
    second->send("and more");
    second->shutdown_send();
    CHECK(first->read_to_end() == "and more");
    tunnel.check_over();
    CHECK(tunnel.gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a side that is reset ends the other at once") {
    Tunnel tunnel;
    tunnel.open();
    Outcome outcome = Outcome::client_gone;
    SUBCASE("the client") {
        tunnel.client.reset();
        tunnel.upstream.wait_closed();
    }
    SUBCASE("the upstream") {
        outcome = Outcome::upstream_failed;
        tunnel.upstream.reset();
        tunnel.client.wait_closed();
    }
    SUBCASE("the client, after it had closed its sending side") {
        tunnel.client.shutdown_send();
        tunnel.upstream.wait_closed();
        tunnel.upstream.send("unread");
        tunnel.gateway.settle();
        tunnel.client.reset();
    }
    SUBCASE("the upstream, after it had closed its sending side") {
        outcome = Outcome::upstream_failed;
        tunnel.upstream.shutdown_send();
        tunnel.client.wait_closed();
        tunnel.client.send("unread");
        tunnel.gateway.settle();
        tunnel.upstream.reset();
    }

    tunnel.check_over(outcome);
    CHECK(tunnel.gateway.limit("slot").in_flight() == 0);
}

TEST_CASE("a client that resets while its upstream does not read is noticed") {
    Tunnel tunnel;
    tunnel.open();
    const std::string much(1'000'000, 'x');
    while (tunnel.client.send_some(much) > 0)
        tunnel.gateway.settle();

    tunnel.client.reset();

    tunnel.check_over(Outcome::client_gone);
}

TEST_CASE("a side that does not read makes the other wait, and nothing is lost") {
    Tunnel tunnel;
    tunnel.open();
    std::string sent;
    const std::string much(1'000'000, 'x');
    std::size_t some = 1;
    while (some > 0) {
        some = tunnel.upstream.send_some(much);
        sent.append(much, 0, some);
        tunnel.gateway.settle();
    }
    tunnel.client.send("still heard");
    CHECK(tunnel.upstream.read(11) == "still heard");
    tunnel.upstream.shutdown_send();

    CHECK(tunnel.client.read_to_end().size() == sent.size());
    tunnel.client.close();
    tunnel.check_over();
}

TEST_CASE("a tunnel in which nothing moves is closed, one in which something does is not") {
    Tunnel tunnel{"timeouts: {tunnel_idle: 20s}\n" + std::string{one_at_a_time}};
    tunnel.open();
    tunnel.gateway.pass(19s);
    REQUIRE_FALSE(tunnel.client.closed());

    SUBCASE("closed") {
        tunnel.gateway.pass(21s);

        CHECK(tunnel.client.closed());
        CHECK(tunnel.upstream.closed());
        tunnel.check_over();
        CHECK(tunnel.gateway.limit("slot").in_flight() == 0);
    }
    SUBCASE("also where one side has closed") {
        tunnel.client.shutdown_send();
        tunnel.gateway.pass(21s);

        tunnel.check_over();
    }
}

TEST_CASE("a tunnel's idle time begins anew with every byte") {
    InProcessGateway gateway{
        "routes: [{name: all, match: {path: /}, upstream: origin, timeouts: {tunnel_idle: 1h}}]"};
    Wire client = gateway.connect();
    client.send(offer);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(switching);
    client.read_head();

    gateway.pass(11min); // more than the default, and than every other time-out

    upstream.send("x");
    CHECK(client.read(1) == "x");
}

TEST_CASE("a cap's slot is given back with the 101 where the cap says so, the others' are not") {
    Tunnel tunnel{brief_slot};
    CHECK(tunnel.gateway.limit("slot").in_flight() == 1);

    tunnel.open();

    CHECK(tunnel.gateway.limit("slot").in_flight() == 0);
    CHECK(tunnel.gateway.limit("held").in_flight() == 1);
    tunnel.client.close();
    tunnel.upstream.close();
    tunnel.check_over();
    CHECK(tunnel.gateway.limit("held").in_flight() == 0);
}

TEST_CASE("a cap's slot is held as long as the tunnel lives") {
    Tunnel tunnel;
    tunnel.open();
    CHECK(tunnel.gateway.limit("slot").in_flight() == 1);
    Wire other = tunnel.gateway.connect();
    other.send(get);
    CHECK(other.read_head().starts_with("HTTP/1.1 429 "));

    tunnel.client.close();
    tunnel.upstream.close();

    tunnel.gateway.run_until([&] { return tunnel.gateway.limit("slot").in_flight() == 0; });
}

TEST_CASE("aborting a connection ends its tunnel") {
    Tunnel tunnel;
    tunnel.open();
    tunnel.gateway.context().draining = true;
    for (auto& connection : tunnel.gateway.context().connections)
        connection.drain();
    tunnel.gateway.settle();
    REQUIRE_FALSE(tunnel.client.closed()); // it may go on for a while

    for (auto& connection : tunnel.gateway.context().connections)
        connection.abort();

    tunnel.check_over(Outcome::client_gone);
    tunnel.upstream.wait_closed();
    CHECK(tunnel.gateway.limit("slot").in_flight() == 0);
}
