#include "fixture.hpp"

#include <doctest/doctest.h>

using namespace stint::upstream;
using namespace stint::upstream::test;

TEST_CASE("a lease that is destroyed closes its connection") {
    Origin origin;
    auto [lease, far] = origin.open();
    CHECK_FALSE(far.closed());

    lease = {};

    far.wait_closed();
    CHECK(origin.pool.idle() == 0);
}

TEST_CASE("a lease that is kept returns its connection, to be taken as reused") {
    Origin origin;
    auto [lease, far] = origin.open();
    CHECK_FALSE(lease.reused());
    CHECK(lease.endpoint() == "origin");

    lease.keep(at(0s));

    CHECK_FALSE(lease);
    CHECK(origin.pool.idle() == 1);
    const Lease again = origin.pool.take_idle();
    REQUIRE(again);
    CHECK(again.reused());
    CHECK(origin.pool.idle() == 0);
    CHECK_FALSE(far.closed());
}

TEST_CASE("a pool without idle connections gives an empty lease") {
    Origin origin;

    CHECK_FALSE(origin.pool.take_idle());
}

TEST_CASE("the connection used last is taken first") {
    Origin origin;
    auto [older, older_far] = origin.open();
    auto [newer, newer_far] = origin.open();
    older.keep(at(0s));
    newer.keep(at(1s));

    Lease first = origin.pool.take_idle();
    first = {};

    newer_far.wait_closed();
    CHECK_FALSE(older_far.closed());
}

TEST_CASE("a connection that its peer has closed, or spoken on, is passed over") {
    Origin origin;
    auto [good, good_far] = origin.open();
    auto [bad, bad_far] = origin.open();
    good.keep(at(0s));
    bad.keep(at(0s));
    SUBCASE("closed") {
        bad_far.close();
    }
    SUBCASE("reset") {
        bad_far.reset();
    }
    SUBCASE("closed its sending side") {
        bad_far.shutdown_send();
    }
    SUBCASE("spoken") {
        bad_far.send("HTTP/1.1 408 Request Timeout\r\n\r\n");
    }

    Lease lease = origin.pool.take_idle();

    REQUIRE(lease);
    CHECK(origin.pool.idle() == 0); // the bad one is closed, not kept for later
    lease = {};
    good_far.wait_closed();
}

TEST_CASE("a sweep closes what has been idle for long enough, by the time it is given") {
    Origin origin;
    auto [older, older_far] = origin.open();
    auto [newer, newer_far] = origin.open();
    older.keep(at(0s));
    newer.keep(at(30s));

    origin.pool.sweep(at(60s) - 1ns, 60s);
    CHECK(origin.pool.idle() == 2);
    origin.pool.sweep(at(60s), 60s);

    CHECK(origin.pool.idle() == 1);
    older_far.wait_closed();
    CHECK_FALSE(newer_far.closed());
}

TEST_CASE("a sweep closes what its peer has closed, whatever its age") {
    Origin origin;
    auto [lease, far] = origin.open();
    lease.keep(at(0s));
    far.close();

    origin.pool.sweep(at(0s), 60s);

    CHECK(origin.pool.idle() == 0);
}

TEST_CASE("the connection that has been idle for longest can be closed before its time") {
    Origin origin;
    auto [older, older_far] = origin.open();
    auto [newer, newer_far] = origin.open();
    older.keep(at(0s));
    newer.keep(at(1s));

    CHECK(origin.pool.close_oldest());

    older_far.wait_closed();
    CHECK_FALSE(newer_far.closed());
    CHECK(origin.pool.close_oldest());
    CHECK_FALSE(origin.pool.close_oldest());
}

TEST_CASE("a retired pool closes its idle connections and keeps none that come back") {
    Origin origin;
    auto [idle, idle_far] = origin.open();
    auto [in_use, in_use_far] = origin.open();
    idle.keep(at(0s));

    origin.pool.retire();

    idle_far.wait_closed();
    CHECK_FALSE(in_use_far.closed()); // its request goes on
    in_use.keep(at(1s));
    in_use_far.wait_closed();
    CHECK(origin.pool.idle() == 0);
}

TEST_CASE("a connection is kept for as long as its address is one of the pool's") {
    Origin origin;
    auto [idle, idle_far] = origin.open();
    auto [busy, busy_far] = origin.open();
    idle.keep(at(0s));
    const stint::net::Endpoint own = origin.pool.addresses().front();
    const stint::net::Endpoint other = *stint::net::ip_endpoint("127.0.0.9", 80);

    origin.pool.set_addresses({other, own});

    CHECK(origin.pool.idle() == 1);
    busy.keep(at(1s));
    CHECK(origin.pool.idle() == 2);
    CHECK_FALSE(idle_far.closed());
    CHECK_FALSE(busy_far.closed());
}

TEST_CASE("a connection to an address that the pool has no more is not kept") {
    Origin origin;
    auto [idle, idle_far] = origin.open();
    auto [busy, busy_far] = origin.open();
    idle.keep(at(0s));

    origin.pool.set_addresses({*stint::net::ip_endpoint("127.0.0.9", 80)});

    idle_far.wait_closed();
    CHECK_FALSE(busy_far.closed()); // what is under way goes on
    busy.keep(at(1s));
    busy_far.wait_closed();
    CHECK(origin.pool.idle() == 0);
}

TEST_CASE("what waits on an aborted lease ends with an error") {
    Origin origin;
    auto [lease, far] = origin.open();
    stint::ErrorCode seen;
    char byte;
    lease.stream().socket().async_read_some(
        stint::net::asio::buffer(&byte, 1),
        [&seen](const stint::ErrorCode& error, std::size_t) { seen = error; });

    lease.abort();

    stint::test::run_until(origin.loop, [&] { return seen.failed(); });
    far.wait_closed();
    Lease{}.abort(); // an empty lease has nothing to abort
}
