// Requests that show a permit which was taken beforehand.
#include "fixture.hpp"
#include "http/permit_text.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace stint;
using namespace stint::test;

namespace {

constexpr std::string_view budget_and_slot =
    "limits: {budget: {requests: 1, per: 1h}, slot: {concurrent: 1}}\n"
    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget, slot]}]";

struct Gateway : InProcessGateway {
    using InProcessGateway::InProcessGateway;

    // A permit for what would be charged to `name`; nothing is.
    Hash128 permit(std::string_view name, std::uint64_t cost = 1) {
        const limits::Charge charge{.limit = &limit(name), .quota = 99, .cost = cost};
        const SteadyTime now = net::read_steady_clock();
        return context().shared().prepaid.issue({&charge, 1}, now + 1h, now).value();
    }
    bool can_be_claimed(Hash128 id) {
        return bool{context().shared().prepaid.claim(id, net::read_steady_clock())};
    }
    std::uint64_t used(std::string_view name) {
        return limit(name).state_of({nullptr, {}, 99}, net::read_clocks()).used;
    }
    [[nodiscard]] std::uint64_t tickets_used() {
        return context().counters.tickets[observe::WorkerCounters::used];
    }
    [[nodiscard]] std::uint64_t tickets_unknown() {
        return context().counters.tickets[observe::WorkerCounters::unknown];
    }
};

std::string showing(Hash128 id, std::string_view more = {}) {
    return "GET / HTTP/1.1\r\nHost: a\r\nX-Stint-Permit: " + http::permit_text(id) + "\r\n" +
           std::string{more} + "\r\n";
}

std::string refusal(Wire& client) {
    const std::string head = client.read_head();
    client.read_until("}\n");
    return head;
}

} // namespace

TEST_CASE("a request with a permit is not charged again, and the upstream does not see it") {
    Gateway gateway{budget_and_slot};
    const Hash128 id = gateway.permit("budget");
    Wire client = gateway.connect();

    client.send(showing(id));

    Wire origin = gateway.upstream.accept();
    CHECK_FALSE(has(origin.read_head(), "ermit"));
    CHECK(gateway.limit("slot").in_flight() == 1);
    origin.send(ok);
    read_response(client);
    gateway.settle();
    CHECK(gateway.used("budget") == 0);
    CHECK(gateway.limit("slot").in_flight() == 0);
    CHECK(gateway.tickets_used() == 1);
    CHECK(gateway.tickets_unknown() == 0);
    CHECK_FALSE(gateway.can_be_claimed(id));
}

TEST_CASE("a permit is good once; then its request is charged as any other") {
    Gateway gateway{budget_and_slot};
    const Hash128 id = gateway.permit("budget");
    Wire client = gateway.connect();
    client.send(showing(id));
    Wire origin = gateway.upstream.accept();

    for (int i = 0; i < 2; ++i) {
        origin.read_head();
        origin.send(ok);
        read_response(client);
        client.send(showing(id));
    }

    CHECK(refusal(client).starts_with("HTTP/1.1 429 "));
    CHECK(gateway.used("budget") == 1);
    CHECK(gateway.tickets_used() == 1);
    CHECK(gateway.tickets_unknown() == 2);
}

TEST_CASE("what is no permit here is charged normally, and counted") {
    Gateway gateway{budget_and_slot};
    const Hash128 id = gateway.permit("budget");
    std::string request;
    SUBCASE("unknown") {
        request = showing({1, 2});
    }
    SUBCASE("malformed") {
        request = "GET / HTTP/1.1\r\nHost: a\r\nX-Stint-Permit: p_1\r\n\r\n";
    }
    SUBCASE("empty") {
        request = "GET / HTTP/1.1\r\nHost: a\r\nX-Stint-Permit:\r\n\r\n";
    }
    SUBCASE("two") {
        request = showing(id, "x-stint-permit: " + http::permit_text(id) + "\r\n");
    }
    Wire client = gateway.connect();

    client.send(request);

    Wire origin = gateway.upstream.accept();
    CHECK_FALSE(has(origin.read_head(), "ermit"));
    CHECK(gateway.used("budget") == 1);
    CHECK(gateway.tickets_used() == 0);
    CHECK(gateway.tickets_unknown() == 1);
    CHECK(gateway.can_be_claimed(id));
}

TEST_CASE("a permit for another limit pays nothing, and stays good for that") {
    Gateway gateway{
        "limits: {other: {requests: 9, per: 1h}, budget: {requests: 9, per: 1h}}\n"
        "routes: [{name: other, match: {path: /other}, upstream: origin, limits: [other]},\n"
        "  {name: all, match: {path: /}, upstream: origin, limits: [budget]}]"};
    const Hash128 id = gateway.permit("other");
    Wire client = gateway.connect();

    client.send(showing(id));

    gateway.upstream.accept().read_head();
    CHECK(gateway.used("budget") == 1);
    CHECK(gateway.tickets_unknown() == 1);
    CHECK(gateway.can_be_claimed(id));
}

TEST_CASE("a cap is not paid for by any permit, and its refusal gives the permit back") {
    Gateway gateway{budget_and_slot};
    const Hash128 first = gateway.permit("budget");
    const Hash128 second = gateway.permit("budget");
    Wire holds = gateway.connect();
    holds.send(showing(first));
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    Wire client = gateway.connect();
    client.send(showing(second));
    CHECK(refusal(client).starts_with("HTTP/1.1 429 "));

    CHECK(gateway.can_be_claimed(second));
    CHECK(gateway.tickets_used() == 1);
    CHECK(gateway.tickets_unknown() == 0);
}

TEST_CASE("who costs more than was taken is charged for the rest") {
    Gateway gateway{"limits: {budget: {requests: 9, per: 1h, cost: header:X-Cost}}\n"
                    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget]}]"};
    const Hash128 cheap = gateway.permit("budget", 3);
    const Hash128 dear = gateway.permit("budget", 3);
    Wire client = gateway.connect();
    client.send(showing(cheap, "X-Cost: 3\r\n"));
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    origin.send(ok);
    read_response(client);
    CHECK(gateway.used("budget") == 0);

    client.send(showing(dear, "X-Cost: 5\r\n"));

    origin.read_head();
    CHECK(gateway.used("budget") == 2);
}

TEST_CASE("a cost that the answer tells is settled with what the permit has paid") {
    Gateway gateway{"limits: {budget: {requests: 99, per: 1h,"
                    " cost: header:X-Cost, reserve: 10}}\n"
                    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget]}]"};
    const Hash128 id = gateway.permit("budget", 4);
    Wire client = gateway.connect();
    client.send(showing(id));
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    CHECK(gateway.used("budget") == 6);
    int told = 0;
    std::uint64_t left = 0;
    SUBCASE("more") {
        told = 7;
        left = 3;
    }
    SUBCASE("less") {
        told = 2;
    }

    origin.send(
        "HTTP/1.1 200 OK\r\nX-Cost: " + std::to_string(told) + "\r\nContent-Length: 2\r\n\r\nhi");

    read_response(client);
    gateway.settle();
    CHECK(gateway.used("budget") == left);
}

TEST_CASE("a request that waits keeps its permit until it is admitted") {
    Gateway gateway{
        "limits: {budget: {requests: 9, per: 1h},"
        " slot: {concurrent: 1, when_exceeded: wait, max_wait: 1h}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget, slot]}]"};
    const Hash128 id = gateway.permit("budget");
    Wire first = gateway.connect();
    first.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    {
        Wire waits = gateway.connect();
        waits.send(showing(id));
        gateway.settle();
        CHECK(gateway.limit("slot").waiting() == 1);
        CHECK_FALSE(gateway.can_be_claimed(id));
        CHECK(gateway.tickets_used() == 0);
        SUBCASE("it is admitted") {
            origin.send(ok);
            read_response(first);
            gateway.open();

            origin.read_head();
            CHECK(gateway.tickets_used() == 1);
            CHECK(gateway.used("budget") == 1);
            origin.send(ok);
            read_response(waits);
            gateway.settle();
            CHECK_FALSE(gateway.can_be_claimed(id));
            return;
        }
        SUBCASE("its client leaves") {}
    }

    gateway.settle();

    CHECK(gateway.limit("slot").waiting() == 0);
    CHECK(gateway.tickets_used() == 0);
    CHECK(gateway.can_be_claimed(id));
}

TEST_CASE("whom a pause sends back to the limits has its permit back, too") {
    Gateway gateway{
        "limits: {budget: {requests: 9, per: 1h},"
        " slot: {concurrent: 1, when_exceeded: wait, max_wait: 1h}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget, slot],\n"
        "  cooldown: {when_paused: wait, max_wait: 1h}}]"};
    const Hash128 id = gateway.permit("budget");
    Wire first = gateway.connect();
    first.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    {
        Wire waits = gateway.connect();
        waits.send(showing(id));
        gateway.settle();
        CHECK(gateway.limit("slot").waiting() == 1);

        origin.send("HTTP/1.1 503 No\r\nRetry-After: 600\r\nContent-Length: 2\r\n\r\nhi");
        read_response(first);
        gateway.open();
        gateway.settle();
        CHECK(gateway.limit("slot").waiting() == 0);
        CHECK(gateway.limit("slot").in_flight() == 0);
        CHECK(gateway.tickets_used() == 1);
        CHECK_FALSE(gateway.can_be_claimed(id)); // the one who waits has it
    }

    gateway.settle();

    CHECK(gateway.can_be_claimed(id));
}

TEST_CASE("a permit pays before a limit that reserves, which keeps its slots for others") {
    Gateway gateway{"limits: {budget: {requests: 1, per: 1h, retry_after: reserve}}\n"
                    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget]}]"};
    const Hash128 id = gateway.permit("budget");
    Wire client = gateway.connect();
    client.send(get);
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    origin.send(ok);
    read_response(client);

    client.send(showing(id));
    origin.read_head();
    origin.send(ok);
    read_response(client);
    client.send(get);

    CHECK(has(refusal(client), "\r\nX-Stint-Ticket: "));
    CHECK(gateway.used("budget") == 1);
    CHECK(gateway.tickets_used() == 1);
}

TEST_CASE("a route without limits, or one that denies, leaves the permit alone") {
    Gateway gateway{"limits: {budget: {requests: 9, per: 1h},"
                    " none: {requests: 9, per: 1h, deny: [127.0.0.1]}}\n"
                    "routes: [{name: free, match: {path: /free}, upstream: origin},\n"
                    "  {name: all, match: {path: /}, upstream: origin, limits: [budget, none]}]"};
    const Hash128 id = gateway.permit("budget");
    Wire client = gateway.connect();
    client.send(showing(id));
    CHECK(refusal(client).starts_with("HTTP/1.1 403 "));

    client.send(
        "GET /free HTTP/1.1\r\nHost: a\r\nX-Stint-Permit: " + http::permit_text(id) + "\r\n\r\n");
    gateway.upstream.accept().read_head();

    CHECK(gateway.can_be_claimed(id));
    CHECK(gateway.tickets_used() == 0);
    CHECK(gateway.tickets_unknown() == 0);
}
