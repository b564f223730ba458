// Which requests are sent once more because their route's rules say so.
#include "retry_story.hpp"

using namespace stint::test;

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
