// Requests over an upstream with two endpoints: which gets them, and what is made of failures.
#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint::test;

namespace {

// A gateway, its two endpoints and a client, all in one story.
struct Story {
    explicit Story(std::string settings = {}, std::string_view routes = plain)
        : gateway{routes, InProcessGateway::TwoEndpoints{.settings = std::move(settings)}} {}

    // A request from the client, answered by whichever endpoint gets it: 0 or 1.
    std::size_t ask(std::string_view answer, std::string_view request = get) {
        client.send(request);
        std::size_t asked = 2;
        gateway.run_until([&] {
            asked = gateway.upstream.called() ? 0 : gateway.second.called() ? 1 : 2;
            return asked < 2 || !client.received().empty();
        });
        if (asked == 2)
            return 2;
        Wire wire = asked == 0 ? gateway.upstream.accept() : gateway.second.accept();
        wire.read_head();
        wire.send(answer);
        wire.close();
        head = client.read_head();
        body(head);
        return asked;
    }
    void body(const std::string& of) {
        if (const auto at = of.find("Content-Length: "); at != std::string::npos)
            client.read(std::stoul(of.substr(at + 16)));
    }

    InProcessGateway gateway;
    Wire client = gateway.connect();
    std::string head;
};

constexpr std::string_view closing_ok =
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";

} // namespace

TEST_CASE("requests go to the endpoints by their weights") {
    Story story;
    std::string turns;
    for (int i = 0; i < 6; ++i)
        turns += std::to_string(story.ask(closing_ok));
    CHECK(turns == "010101");
    CHECK(story.gateway.endpoint(0).in_flight() == 0);
    CHECK(story.gateway.endpoint(1).in_flight() == 0);
}

TEST_CASE("a request is in flight at its endpoint until its answer has been relayed") {
    Story story;
    story.client.send(get);
    Wire wire = story.gateway.upstream.accept();
    wire.read_head();
    CHECK(story.gateway.endpoint(0).in_flight() == 1);

    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhi");
    story.client.read_until("hi");
    CHECK(story.gateway.endpoint(0).in_flight() == 1);
    wire.send("ho");
    story.client.read_until("ho");
    story.gateway.settle();

    CHECK(story.gateway.endpoint(0).in_flight() == 0);
}

TEST_CASE("with balance: hash a client's requests go to one endpoint, whichever is next") {
    Story story{"balance: hash, hash_key: header:X-Session"};
    const auto by = [](int session) {
        return "GET / HTTP/1.1\r\nHost: a\r\nX-Session: s" + std::to_string(session) + "\r\n\r\n";
    };
    std::size_t seen = 0;
    for (int session = 0; session < 32; ++session) { // eight were at one endpoint now and then
        const std::size_t first = story.ask(closing_ok, by(session));
        CHECK(story.ask(closing_ok, by(session)) == first);
        seen |= std::size_t{1} << first;
    }
    CHECK(seen == 3);
    const std::size_t without = story.ask(closing_ok);
    CHECK(story.ask(closing_ok) == without); // by the client's address
}

TEST_CASE(
    "an endpoint that answers 503 again and again is taken out, one that answers 429 is not") {
    std::string status = "503 Service Unavailable";
    bool out = true;
    SUBCASE("503") {}
    SUBCASE("500") {
        status = "500 Internal Server Error";
    }
    SUBCASE("504") {
        status = "504 Gateway Timeout";
    }
    SUBCASE("429") {
        status = "429 Too Many Requests";
        out = false;
    }
    SUBCASE("501") {
        status = "501 Not Implemented";
        out = false;
    }
    Story story{"ejection: {failures: 3}"};
    const std::string failure =
        "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    for (int i = 0; i < 3; ++i) {
        CHECK(story.ask(failure) == 0);
        CHECK(story.ask(closing_ok) == 1);
    }

    CHECK(story.gateway.endpoint(0).ejections() == (out ? 1 : 0));
    for (int i = 0; i < 4; ++i)
        CHECK(story.ask(closing_ok) == (out || i % 2 == 1 ? 1 : 0));
}

TEST_CASE("an answer that is none counts against its endpoint") {
    std::string_view answer;
    SUBCASE("closed without a word") {
        answer = "";
    }
    SUBCASE("what is not HTTP") {
        answer = "SSH-2.0-OpenSSH\r\n\r\n";
    }
    Story story{"ejection: {failures: 2}"};
    for (int i = 0; i < 2; ++i) {
        CHECK(story.ask(answer) == 0);
        CHECK(story.head.starts_with("HTTP/1.1 502 "));
        CHECK(story.ask(closing_ok) == 1);
    }

    CHECK(story.gateway.endpoint(0).ejections() == 1);
    CHECK_FALSE(story.gateway.endpoint(0).last_failure().empty());
}

TEST_CASE("an endpoint that does not answer in time fails") {
    Story story{"timeouts: {response: 5s}"};
    story.client.send(get);
    Wire wire = story.gateway.upstream.accept();
    wire.read_head();
    story.gateway.pass(6s);

    CHECK(story.client.read_head().starts_with("HTTP/1.1 504 "));
    CHECK(story.gateway.endpoint(0).failures() == 1);
    CHECK(story.gateway.endpoint(0).in_flight() == 0);
}

TEST_CASE("a client that goes away says nothing of the endpoint") {
    Story story;
    story.client.send(get);
    Wire wire = story.gateway.upstream.accept();
    wire.read_head();
    story.client.close();
    wire.wait_closed();
    story.gateway.settle();

    CHECK(story.gateway.endpoint(0).failures() == 0);
    CHECK(story.gateway.endpoint(0).in_flight() == 0);
}

TEST_CASE("a refused connection is tried on the other endpoint, and the refusal counts") {
    Story story{"ejection: {failures: 2}"};
    story.gateway.upstream.close();
    for (int i = 0; i < 4; ++i) {
        CHECK(story.ask(closing_ok) == 1);
        CHECK(story.head.starts_with("HTTP/1.1 200 "));
    }

    CHECK(story.gateway.endpoint(0).failures() == 2);
    CHECK(story.gateway.endpoint(0).ejections() == 1);
}

TEST_CASE(
    "with no endpoint up the answer is 503 with Retry-After, or they are asked all the same") {
    SUBCASE("503") {
        Story story;
        story.gateway.endpoint(0).set_unhealthy();
        story.gateway.endpoint(0).set_next_check(stint::net::read_clocks().steady + 3s);
        story.gateway.endpoint(1).drain();

        CHECK(story.ask(closing_ok) == 2);

        story.head = story.client.read_head();
        CHECK(story.head.starts_with("HTTP/1.1 503 "));
        CHECK(has(story.head, "\r\nRetry-After: 3\r\n"));
        CHECK(has(story.head, "\r\nContent-Type: application/problem+json\r\n"));
        story.body(story.head);
        CHECK(story.gateway.ended(Outcome::upstream_failed, 5) == 1);
        story.gateway.endpoint(1).enable(stint::net::read_clocks().steady);
        CHECK(story.ask(closing_ok) == 1); // the client's connection goes on
    }
    SUBCASE("fail_open") {
        Story story{"when_all_down: fail_open"};
        story.gateway.endpoint(0).set_unhealthy();
        story.gateway.endpoint(1).drain();

        CHECK(story.ask(closing_ok) == 0);
        CHECK(story.ask(closing_ok) == 0);
    }
}

TEST_CASE("what is known of endpoints survives a reload") {
    Story story;
    story.gateway.endpoint(0).drain();
    stint::upstream::EndpointState* const before = &story.gateway.endpoint(0);

    story.gateway.reload(plain);

    CHECK(&story.gateway.endpoint(0) == before);
    CHECK(story.ask(closing_ok) == 1);
    CHECK(story.ask(closing_ok) == 1);
}
