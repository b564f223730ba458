// Requests that are sent once more because their route's rules say so.
#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

using namespace stint::test;

namespace {

constexpr std::string_view unavailable =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy";
constexpr std::string_view charged =
    "limits: {slot: {concurrent: 1}, quota: {requests: 2, per: 1h}}\n"
    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [slot, quota]}]";
constexpr std::string_view put_of_four = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n";

// Two endpoints, of which the first gets the first request.
struct Story {
    explicit Story(std::string retry = "{}", std::string_view routes = plain, unsigned room = 0)
        : gateway{
              routes,
              InProcessGateway::TwoEndpoints{.settings = "retry: " + retry, .room = room}} {}

    // A request, as it reaches the first endpoint.
    Wire ask(std::string_view request = get) {
        client.send(request);
        Wire wire = gateway.upstream.accept();
        first_head = wire.read_head();
        return wire;
    }
    // What the client gets when nobody is asked once more.
    void check_passed_on(std::string_view status, int retries = 0) {
        CHECK(client.read_head().starts_with(std::string{"HTTP/1.1 "}.append(status).append(" ")));
        gateway.settle();
        CHECK_FALSE(gateway.second.called());
        CHECK_FALSE(gateway.upstream.called());
        CHECK(gateway.to_upstream().retries == static_cast<std::uint64_t>(retries));
    }
    // The second endpoint gets the same request, and answers it.
    void check_retried() {
        Wire again = gateway.second.accept();
        CHECK(again.read_head() == first_head);
        again.send(ok);
        CHECK(read_response(client).starts_with("HTTP/1.1 200 "));
        gateway.settle();
        CHECK(gateway.to_upstream().retries == 1);
        CHECK(gateway.ended(Outcome::forwarded, 2) == 1);
        CHECK(gateway.endpoint(0).in_flight() == 0);
        CHECK(gateway.endpoint(1).in_flight() == 0);
    }

    stint::upstream::RetryBudget& budget() {
        return gateway.context().active->clusters.at(0).retry_budget();
    }
    // Retries enough for what the test does, or none: those that are always allowed are used, in
    // the seconds to come too.
    void widen_budget() {
        for (int i = 0; i < 100; ++i)
            budget().note_request(stint::net::read_steady_clock());
    }
    void use_up_budget() {
        for (auto at = 0s; at < 9s; at += 1s)
            budget().note_retry(stint::net::read_steady_clock() + at);
    }
    bool within_budget() { return budget().allows(stint::net::read_steady_clock(), 1); }

    InProcessGateway gateway;
    Wire client = gateway.connect();
    std::string first_head;
};

// A request while one endpoint, or both, refuse connections.
struct Refusing {
    explicit Refusing(std::string_view retry, bool both) {
        story.emplace(std::string{retry});
        story->gateway.upstream.close();
        if (both)
            story->gateway.second.close();
        story->client.send(get);
    }
    std::optional<Story> story;
};

} // namespace

TEST_CASE("a status of the rules is asked for at the other endpoint, and the client sees nothing") {
    Story story;
    Wire first = story.ask();
    first.send(unavailable);

    story.check_retried();
    first.wait_closed(); // its body is not read to the end
    CHECK(story.gateway.endpoint(0).failures() == 1);
    CHECK(story.gateway.endpoint(1).failures() == 0);
}

TEST_CASE("a fresh connection that ends before the answer's head is retried") {
    Story story;
    Wire first = story.ask();
    SUBCASE("without a word") {}
    SUBCASE("within the head") {
        first.send("HTTP/1.1 200 OK\r\nContent-");
        story.gateway.settle();
    }
    first.close();

    story.check_retried();
    CHECK(story.gateway.endpoint(0).failures() == 1);
}

TEST_CASE("each way to fail is retried only where the rules name it") {
    SUBCASE("a status") {
        Story story{"{on: [connect, reset, 502]}"};
        Wire first = story.ask();
        first.send(unavailable);
        story.check_passed_on("503");
    }
    SUBCASE("a reset") {
        Story story{"{on: [connect, 503]}"};
        Wire first = story.ask();
        first.close();
        story.check_passed_on("502");
    }
    SUBCASE("a status that no rules name") {
        Story story{"{on: [500]}"};
        Wire first = story.ask();
        first.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        story.check_passed_on("404");
    }
    SUBCASE("nothing of the route's") {
        Story story{"{}", "routes: [{name: all, match: {path: /}, upstream: origin, retry: off}]"};
        Wire first = story.ask();
        first.send(unavailable);
        story.check_passed_on("503");
    }
}

TEST_CASE("a route's own rules go before its upstream's") {
    Story story{
        "{on: [502]}",
        "routes: [{name: all, match: {path: /}, upstream: origin, retry: {on: [503]}}]"};
    Wire first = story.ask();
    first.send(unavailable);

    story.check_retried();
}

TEST_CASE("what the client has something of is not retried") {
    Story story;
    Wire first = story.ask();
    SUBCASE("a part of the body") {
        first.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhi");
        CHECK(story.client.read_head().starts_with("HTTP/1.1 200 "));
        first.close();
        story.client.wait_closed();
    }
    SUBCASE("an interim response") {
        first.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
        CHECK(story.client.read_head().starts_with("HTTP/1.1 103 "));
        SUBCASE("and then the end") {
            first.close();
            CHECK(story.client.read_head().starts_with("HTTP/1.1 502 "));
        }
        SUBCASE("and then a 503") {
            first.send(unavailable);
            CHECK(story.client.read_head().starts_with("HTTP/1.1 503 "));
        }
    }
    story.gateway.settle();
    CHECK_FALSE(story.gateway.second.called());
    CHECK(story.gateway.to_upstream().retries == 0);
}

TEST_CASE("an upstream's own 100 is nothing that the client has") {
    Story story;
    Wire first = story.ask();
    first.send("HTTP/1.1 100 Continue\r\n\r\n");
    first.send(unavailable);

    story.check_retried();
}

TEST_CASE("methods that are not idempotent are retried only where they are named") {
    const std::string post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    SUBCASE("not named") {
        Story story;
        Wire first = story.ask(post);
        first.send(unavailable);
        story.check_passed_on("503");
    }
    SUBCASE("named") {
        Story story{"{methods: [POST]}"};
        Wire first = story.ask(post);
        first.send(unavailable);
        story.check_retried();
    }
    SUBCASE("GET, which is left out") {
        Story story{"{methods: [POST]}"};
        Wire first = story.ask();
        first.send(unavailable);
        story.check_passed_on("503");
    }
}

TEST_CASE("a body that came with its head is sent again, one that came later is not") {
    Story story;
    SUBCASE("of known length") {
        Wire first = story.ask(std::string{put_of_four} + "body");
        CHECK(first.read(4) == "body");
        first.send(unavailable);
        Wire again = story.gateway.second.accept();
        CHECK(again.read_head() == story.first_head);
        CHECK(again.read(4) == "body");
        again.send(ok);
        CHECK(read_response(story.client).starts_with("HTTP/1.1 200 "));
    }
    SUBCASE("chunked") {
        Wire first = story.ask("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "4\r\nbody\r\n0\r\n\r\n");
        CHECK(has(first.read_until("0\r\n\r\n"), "body"));
        first.send(unavailable);
        Wire again = story.gateway.second.accept();
        CHECK(again.read_head() == story.first_head);
        CHECK(has(again.read_until("0\r\n\r\n"), "4\r\nbody\r\n"));
        again.send(ok);
        CHECK(read_response(story.client).starts_with("HTTP/1.1 200 "));
    }
    SUBCASE("later") {
        Wire first = story.ask(put_of_four);
        story.client.send("body");
        CHECK(first.read(4) == "body");
        first.send(unavailable);
        story.check_passed_on("503");
    }
}

TEST_CASE("an answer that does not come in time is not retried") {
    Story story{"{}, timeouts: {response: 5s}"};
    Wire first = story.ask();
    story.gateway.pass(6s);

    story.check_passed_on("504");
}

TEST_CASE("an answer that is not HTTP is not retried") {
    Story story;
    Wire first = story.ask();
    first.send("SSH-2.0-OpenSSH\r\n\r\n");

    story.check_passed_on("502");
}

TEST_CASE("a request is sent as often as the rules say, to the other endpoint each time") {
    Story story{"{attempts: 3}"};
    story.widen_budget();
    Wire first = story.ask();
    first.send(unavailable);
    Wire second = story.gateway.second.accept();
    CHECK(second.read_head() == story.first_head);
    second.send(unavailable);
    Wire third = story.gateway.upstream.accept();
    CHECK(third.read_head() == story.first_head);
    third.send(unavailable);

    story.check_passed_on("503", 2);
}

TEST_CASE("the last attempt's failure is the client's") {
    Story story;
    Wire first = story.ask();
    first.send(unavailable);
    Wire second = story.gateway.second.accept();
    second.read_head();
    SUBCASE("a status") {
        second.send("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nhi");
        CHECK(read_response(story.client).starts_with("HTTP/1.1 502 "));
    }
    SUBCASE("a reset") {
        second.close();
        CHECK(story.client.read_head().starts_with("HTTP/1.1 502 "));
    }
    story.gateway.settle();
    CHECK_FALSE(story.gateway.upstream.called());
    CHECK(story.gateway.to_upstream().retries == 1);
    CHECK(story.gateway.to_upstream().retries_over_budget == 0);
    CHECK(story.gateway.endpoint(0).failures() == 1);
    CHECK(story.gateway.endpoint(1).failures() == 1);
}

TEST_CASE("with nobody else up the same endpoint is asked once more") {
    Story story;
    story.gateway.endpoint(1).drain();
    Wire first = story.ask();
    first.send(unavailable);

    Wire again = story.gateway.upstream.accept();
    CHECK(again.read_head() == story.first_head);
    CHECK(story.gateway.endpoint(0).in_flight() == 1);
    again.send(ok);

    CHECK(read_response(story.client).starts_with("HTTP/1.1 200 "));
    CHECK(story.gateway.to_upstream().retries == 1);
}

TEST_CASE("with nobody up the failure is passed on") {
    Story story;
    story.gateway.endpoint(1).drain();
    Wire first = story.ask();
    story.gateway.endpoint(0).drain();
    first.send(unavailable);

    story.check_passed_on("503");
    CHECK(story.within_budget());
}

TEST_CASE("a retry goes out on an idle connection of the other endpoint") {
    Story story;
    story.gateway.endpoint(0).drain();
    story.client.send(get);
    Wire second = story.gateway.second.accept();
    second.read_head();
    second.send(ok);
    read_response(story.client);
    story.gateway.endpoint(0).enable(stint::net::read_steady_clock());
    story.gateway.endpoint(1).drain();
    Wire first = story.ask();
    story.gateway.endpoint(1).enable(stint::net::read_steady_clock());
    SUBCASE("and is answered there") {
        first.send(unavailable);
        CHECK(second.read_head() == story.first_head);
        second.send(ok);
        CHECK(read_response(story.client).starts_with("HTTP/1.1 200 "));
        CHECK(story.gateway.to_upstream().connects == 2);
    }
    SUBCASE("that dies: then on a new one") {
        first.send(unavailable);
        CHECK(second.read_head() == story.first_head);
        second.close();
        Wire anew = story.gateway.second.accept();
        CHECK(anew.read_head() == story.first_head);
        anew.send(ok);
        CHECK(read_response(story.client).starts_with("HTTP/1.1 200 "));
    }
}

TEST_CASE("a place on the endpoint that has failed is given back, one elsewhere is needed") {
    Story story{"{}", plain, 1};
    Wire first = story.ask();
    SUBCASE("there is one") {
        first.send(unavailable);
        Wire again = story.gateway.second.accept();
        again.read_head();
        CHECK(story.gateway.endpoint(0).in_flight() == 0);
        CHECK(story.gateway.endpoint(1).in_flight() == 1);
    }
    SUBCASE("there is none: it keeps its own") {
        Wire other = story.gateway.connect();
        other.send(get);
        Wire busy = story.gateway.second.accept();
        busy.read_head();
        first.send(unavailable);
        Wire again = story.gateway.upstream.accept();
        CHECK(again.read_head() == story.first_head);
        CHECK(story.gateway.endpoint(0).in_flight() == 1);
    }
}

TEST_CASE("a retried request is charged once and holds one slot") {
    Story story{"{}", charged};
    Wire first = story.ask();
    first.send(unavailable);
    Wire second = story.gateway.second.accept();
    second.read_head();

    Wire other = story.gateway.connect();
    other.send(get);
    CHECK(other.read_head().starts_with("HTTP/1.1 429 ")); // its slot is held, and is the only one
    second.send(ok);
    read_response(story.client);
    story.gateway.settle();

    // Of two requests an hour one is left: had the retry been charged, none would be.
    story.gateway.endpoint(1).drain();
    story.client.send(get);
    Wire third = story.gateway.upstream.accept();
    third.read_head();
    third.send(ok);
    CHECK(read_response(story.client).starts_with("HTTP/1.1 200 "));
    story.client.send(get);
    CHECK(story.client.read_head().starts_with("HTTP/1.1 429 "));
}

TEST_CASE("over the budget the failure is passed on, and counted") {
    Story story;
    story.use_up_budget();
    Wire first = story.ask();
    SUBCASE("a status") {
        first.send(unavailable);
        story.check_passed_on("503");
    }
    SUBCASE("a reset") {
        first.close();
        story.check_passed_on("502");
    }
    CHECK(story.gateway.to_upstream().retries_over_budget == 1);
}

TEST_CASE("what the rules refuse does not use the budget up") {
    Story story;
    Wire first = story.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    story.use_up_budget();
    first.send(unavailable);

    story.check_passed_on("503");
    CHECK(story.gateway.to_upstream().retries_over_budget == 0);
}

TEST_CASE("refused connections move on once without rules' leave, and count as an attempt") {
    SUBCASE("the other takes it") {
        Refusing refusing{"{}", false};
        Wire again = refusing.story->gateway.second.accept();
        again.read_head();
        again.send(ok);
        CHECK(read_response(refusing.story->client).starts_with("HTTP/1.1 200 "));
        CHECK(refusing.story->gateway.to_upstream().retries == 0);
    }
    SUBCASE("both refuse") {
        Refusing refusing{"{}", true};
        CHECK(refusing.story->client.read_head().starts_with("HTTP/1.1 502 "));
        CHECK(refusing.story->gateway.to_upstream().connects == 2);
        CHECK(refusing.story->gateway.to_upstream().retries == 0);
    }
    SUBCASE("both refuse, and there is an attempt left") {
        Refusing refusing{"{attempts: 3}", true};
        CHECK(refusing.story->client.read_head().starts_with("HTTP/1.1 502 "));
        CHECK(refusing.story->gateway.to_upstream().connects == 3);
        CHECK(refusing.story->gateway.to_upstream().retries == 1);
    }
    SUBCASE("both refuse, and connect is no reason") {
        Refusing refusing{"{on: [reset], attempts: 3}", true};
        CHECK(refusing.story->client.read_head().starts_with("HTTP/1.1 502 "));
        CHECK(refusing.story->gateway.to_upstream().connects == 2);
    }
}

TEST_CASE("a pause that the answer asks for is heeded and passed on") {
    Story story{"{}, cooldown: {scope: route}"};
    Wire first = story.ask();
    SUBCASE("with Retry-After") {
        first.send("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\n"
                   "Content-Length: 0\r\n\r\n");
        story.check_passed_on("503");
        story.client.send(get);
        CHECK(has(story.client.read_head(), "\r\nRetry-After: 7\r\n"));
    }
    SUBCASE("without") {
        first.send(unavailable);
        story.check_retried();
    }
    SUBCASE("without, while another answer's pause holds") {
        Wire other = story.gateway.connect();
        other.send(get);
        Wire second = story.gateway.second.accept();
        second.read_head();
        second.send("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\n"
                    "Content-Length: 0\r\n\r\n");
        CHECK(other.read_head().starts_with("HTTP/1.1 429 "));
        first.send(unavailable);
        story.check_passed_on("503");
        CHECK(story.within_budget());
    }
}

TEST_CASE("what was sent does not wait for another answer's pause to end, to be sent again") {
    Story story{"{}, cooldown: {scope: route, when_paused: wait, max_wait: 1m}"};
    Wire first = story.ask();
    Wire other = story.gateway.connect();
    other.send(get);
    Wire second = story.gateway.second.accept();
    second.read_head();
    second.send("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
    CHECK(other.read_head().starts_with("HTTP/1.1 429 "));
    first.close();

    story.check_passed_on("502");
    CHECK(story.within_budget());
}

TEST_CASE("a client that has gone gets no second attempt") {
    Story story;
    Wire first = story.ask();
    story.client.close();
    first.wait_closed();
    story.gateway.settle();

    CHECK_FALSE(story.gateway.second.called());
    CHECK(story.gateway.to_upstream().retries == 0);
}
