// Connecting.
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

using namespace stint::upstream;
using namespace stint::upstream::test;
namespace net = stint::net;

TEST_CASE("the addresses of an endpoint are tried until one answers") {
    net::asio::io_context loop;
    ListeningWire listening{loop};
    const RefusingAddress closed;
    const RefusingAddress also_closed;
    Pool pool{"origin", {closed.address(), also_closed.address(), listening.address()}};
    Lease lease = pool.make_new(loop.get_executor());

    CHECK_FALSE(connect(loop, lease));

    Wire far = listening.accept();
    net::Gather gather;
    gather.add("hello");
    REQUIRE_FALSE(net::write_now(lease.stream(), gather));
    CHECK(far.read(5) == "hello");
}

TEST_CASE("where no address answers the last one's error is returned") {
    net::asio::io_context loop;
    const RefusingAddress closed;
    const RefusingAddress also_closed;
    Pool pool{"origin", {closed.address(), also_closed.address()}};
    Lease lease = pool.make_new(loop.get_executor());

    CHECK(connect(loop, lease) == net::asio::error::connection_refused);
}

TEST_CASE("a name without addresses cannot be connected to") {
    net::asio::io_context loop;
    Pool pool{"name:80", {}};
    Lease lease = pool.make_new(loop.get_executor());

    CHECK(connect(loop, lease) == net::asio::error::host_not_found);
}

TEST_CASE("addresses set later are those that are tried") {
    net::asio::io_context loop;
    ListeningWire listening{loop};
    Pool pool{"name:80", {}};
    pool.set_addresses({listening.address()});
    Lease lease = pool.make_new(loop.get_executor());

    CHECK_FALSE(connect(loop, lease));
    CHECK(listening.called());
}

TEST_CASE("a connected socket sends small writes at once") {
    Origin origin;
    auto [lease, far] = origin.open();

    int on = 0;
    socklen_t size = sizeof on;
    REQUIRE(
        ::getsockopt(
            lease.stream().socket().native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0);

    CHECK(on != 0);
}

TEST_CASE("closing the socket ends connecting, and no further address is tried") {
    net::asio::io_context loop;
    ListeningWire listening{loop};
    // TEST-NET-1 (RFC 5737): where it is not refused at once nobody answers.
    Pool pool{"origin", {*net::ip_endpoint("192.0.2.1", 9), listening.address()}};
    Lease lease = pool.make_new(loop.get_executor());
    std::optional<stint::ErrorCode> result;
    net::spawn(loop.get_executor(), connect(lease, result));
    loop.poll();
    if (result)
        return; // no route to there from here: nothing to end

    lease.abort();

    stint::test::run_until(loop, [&] { return result.has_value(); });
    CHECK(result->failed());
    CHECK_FALSE(listening.called());
}
