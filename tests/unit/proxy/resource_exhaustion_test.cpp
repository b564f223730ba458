// Without descriptors: what is idle makes room for what is not.
#include "fixture.hpp"
#include "net/clock.hpp"
#include "no_descriptors.hpp"
#include "server/http1_connection.hpp"
#include "server/resource_exhaustion.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <vector>

using namespace stint;
using namespace stint::test;

namespace {

const ErrorCode no_descriptors{EMFILE, boost::system::system_category()};

// As if that error had come up in this worker or in another, and the worker's next tick.
void run_short(InProcessGateway& gateway) {
    gateway.context().shared().resource_exhaustion.note(no_descriptors, net::read_steady_clock());
    gateway.settle();
}

// A client whose request was answered, over the connection that `upstream` is.
Wire served(InProcessGateway& gateway, Wire& upstream) {
    Wire client = gateway.connect();
    client.send(get);
    upstream.read_head();
    upstream.send(ok);
    read_response(client);
    return client;
}

Wire first_served(InProcessGateway& gateway, Wire& client) {
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);
    gateway.settle();
    return upstream;
}

std::uint64_t shed(InProcessGateway& gateway) {
    return gateway.context().counters.shed_clients;
}

} // namespace

TEST_CASE("a shortage closes connections that have long been idle, and no others") {
    InProcessGateway gateway{plain};
    Wire long_idle = gateway.connect();
    Wire upstream = first_served(gateway, long_idle);
    gateway.pass(1s);
    Wire just_idle = served(gateway, upstream);
    Wire new_one = gateway.connect();
    Wire busy = gateway.connect();
    busy.send(get);
    upstream.read_head();

    run_short(gateway);

    CHECK(long_idle.closed());
    CHECK(shed(gateway) == 1);
    CHECK_FALSE(just_idle.closed());
    CHECK_FALSE(new_one.closed());
    upstream.send(ok);
    CHECK(read_response(busy).ends_with("hi"));
}

TEST_CASE("one shortage closes so many and no more, those that have been idle for longest first") {
    InProcessGateway gateway{plain};
    std::vector<Wire> clients;
    clients.push_back(gateway.connect());
    Wire upstream = first_served(gateway, clients.front());
    for (int i = 1; i < 34; ++i)
        clients.push_back(served(gateway, upstream));
    gateway.pass(1s);

    run_short(gateway);
    gateway.settle(); // not another one

    CHECK(shed(gateway) == 32);
    CHECK(clients[31].closed());
    CHECK_FALSE(clients[32].closed());
    CHECK_FALSE(clients[33].closed());
    run_short(gateway);
    CHECK(clients[32].closed());
    CHECK(clients[33].closed());
}

TEST_CASE("a connection that is used again is not among the idle ones") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    Wire upstream = first_served(gateway, client);
    gateway.pass(1s);
    client.send(get);
    upstream.read_head();

    run_short(gateway);
    upstream.send(ok);

    CHECK(read_response(client).ends_with("hi"));
    CHECK(shed(gateway) == 0);
    gateway.pass(1s); // and it may be parked once more
    run_short(gateway);
    CHECK(shed(gateway) == 1);
}

TEST_CASE("a shortage closes connections that linger before idle ones") {
    InProcessGateway gateway{"max_body: 1KiB\n" + std::string{plain}};
    std::vector<Wire> idle;
    idle.push_back(gateway.connect());
    Wire upstream = first_served(gateway, idle.front());
    for (int i = 1; i < 32; ++i)
        idle.push_back(served(gateway, upstream));
    gateway.pass(1s);
    Wire refused = gateway.connect();
    refused.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99000000\r\n\r\nabc");
    refused.read_until("}\n");
    gateway.settle();

    run_short(gateway);

    CHECK(shed(gateway) == 32);
    CHECK_FALSE(idle.back().closed());
    CHECK(idle.front().closed());
}

TEST_CASE("a shortage closes idle upstream connections where clients' are not enough") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    Wire upstream = first_served(gateway, client);
    REQUIRE(gateway.pooled() == 1);

    run_short(gateway);

    CHECK(gateway.pooled() == 0);
    CHECK(gateway.context().counters.shed_upstreams == 1);
    CHECK(upstream.closed());
    CHECK_FALSE(client.closed());
}

TEST_CASE("a request that finds no descriptor for its upstream takes that of an idle client") {
    InProcessGateway gateway{plain};
    Wire idle = gateway.connect();
    Wire pooled = first_served(gateway, idle);
    gateway.pass(1s);
    REQUIRE(gateway.context().origins.pools().close_oldest(1) == 1);
    Wire client = gateway.connect();
    gateway.settle();
    {
        const NoDescriptors limit;
        client.send(get);
        gateway.settle();
    }

    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);

    CHECK(read_response(client).ends_with("hi"));
    CHECK(idle.closed());
}

TEST_CASE("a request for whose upstream there is no descriptor at all is answered 503") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    gateway.settle();
    std::string answer;
    {
        const NoDescriptors limit;
        client.send(get);
        answer = client.read_head();
    }

    CHECK(answer.starts_with("HTTP/1.1 503 "));
    CHECK(gateway.context().shared().resource_exhaustion.count() > 0);
}

TEST_CASE("accepting fails without descriptors, makes room, and goes on") {
    InProcessGateway gateway{plain};
    Wire idle = gateway.connect();
    Wire upstream = first_served(gateway, idle);
    gateway.pass(1s);
    Wire late = gateway.connect(); // in the listener's queue
    late.send(get);
    {
        const NoDescriptors limit;
        gateway.run_until([&] { return gateway.context().counters.connections_accepted == 2; });
    }

    upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);

    CHECK(read_response(late).ends_with("hi"));
    CHECK(idle.closed());
    CHECK(gateway.context().counters.accept_errors > 0);
    CHECK(shed(gateway) == 1);
}

TEST_CASE("a log line about a shortage comes once a second, whoever writes it") {
    OnceASecond line;
    const SteadyTime now{1h};

    CHECK(line.pass(now));
    CHECK_FALSE(line.pass(now));
    CHECK_FALSE(line.pass(now + 1s - 1ns));
    CHECK(line.pass(now + 1s));
    CHECK_FALSE(line.pass(now + 1s));
}

TEST_CASE("which errors are a shortage") {
    const auto of = [](int number) {
        return server::is_resource_exhaustion({number, boost::system::system_category()});
    };
    for (const int number : {EMFILE, ENFILE, ENOMEM, ENOBUFS})
        CHECK(of(number));
    for (const int number : {ECONNABORTED, ECONNREFUSED, EADDRNOTAVAIL, EPIPE})
        CHECK_FALSE(of(number));
}
