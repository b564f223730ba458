// How often requests are sent once more, where to, and what they take with them.
#include "retry_story.hpp"
#include "tunnel.hpp"

using namespace stint::test;

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

TEST_CASE("a request without Host names the endpoint that it goes to, each time") {
    const auto host = [](const auto& endpoint) { return "\r\nHost: " + endpoint.text() + "\r\n"; };
    Story story;
    SUBCASE("where the first one fails") {
        Wire first = story.ask("GET / HTTP/1.0\r\n\r\n");
        CHECK(has(story.first_head, host(story.gateway.upstream)));
        first.send(unavailable);

        Wire second = story.gateway.second.accept();
        CHECK(has(second.read_head(), host(story.gateway.second)));
    }
    SUBCASE("where the first one refuses the connection") {
        story.gateway.upstream.close();
        story.client.send("PUT / HTTP/1.0\r\nContent-Length: 4\r\n\r\nbody");

        Wire second = story.gateway.second.accept();
        CHECK(has(second.read_head(), host(story.gateway.second)));
        CHECK(second.read(4) == "body");
    }
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

TEST_CASE("an offer to switch protocols goes once more, too") {
    Story story{"{}", foo_too};
    Wire first = story.ask(offer);
    first.send(unavailable);
    Wire second = story.gateway.second.accept();
    CHECK(second.read_head() == story.first_head);
    second.send(switching);
    CHECK(story.client.read_head().starts_with("HTTP/1.1 101 "));
    story.client.send("there");
    CHECK(second.read(5) == "there");
    second.send("back");
    CHECK(story.client.read(4) == "back");
}

TEST_CASE("a retry counts among what the upstream was sent of what it told") {
    Story story{"{}, cooldown: {scope: route, learn: true}"};
    Wire first = story.ask();
    first.send("HTTP/1.1 503 Service Unavailable\r\nX-RateLimit-Remaining: 0\r\n"
               "X-RateLimit-Reset: 60\r\nContent-Length: 4\r\n\r\nbusy");

    story.check_passed_on("503"); // nothing is left for it
    CHECK(story.within_budget());
}
