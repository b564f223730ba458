// An exchange between a fake client and a fake upstream: no socket, no protocol.
#include "fake_stream.hpp"
#include "fake_upstream.hpp"
#include "fixture.hpp"
#include "proxy/service.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace stint;
using namespace stint::test;

namespace {

constexpr std::string_view ok_head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view slots =
    "limits: {slot: {concurrent: 100}, one: {requests: 1, per: 1h}}\n"
    "routes:\n"
    "  - {name: closed, match: {path: /closed}, upstream: origin, limits: [one]}\n"
    "  - {name: all, match: {path: /}, upstream: origin, limits: [slot],\n"
    "     retry: {on: [reset], attempts: 3, methods: [GET, PUT]}}\n";

std::string put(std::string_view path, std::string_view framing = "Content-Length: 4") {
    std::string head{"PUT "};
    return head.append(path).append(" HTTP/1.1\r\nHost: a\r\n").append(framing).append("\r\n\r\n");
}

struct Room {
    explicit Room(std::string_view yaml = slots) : gateway{yaml}, service{gateway.context()} {
        gateway.context().origins.set_source(&origins);
    }
    ~Room() {
        clients.clear();
        gateway.context().origins.set_source(nullptr);
    }

    FakeStream& start(std::string head) {
        FakeStream& client =
            *clients.emplace_back(std::make_unique<FakeStream>(peer, std::move(head)));
        REQUIRE(client.parsed);
        client.start(gateway.context().executor, service);
        gateway.settle();
        return client;
    }
    FakeCall& last_call() {
        REQUIRE_FALSE(upstream->calls.empty());
        return *upstream->calls.back();
    }

    InProcessGateway gateway;
    std::shared_ptr<FakeUpstream> upstream =
        std::make_shared<FakeUpstream>(gateway.context().executor);
    FakeOrigins origins{upstream};
    proxy::Service service;
    routing::ClientAddress peer{*IpAddress::parse("192.0.2.1"), gateway.context().totals.hasher};
    std::vector<std::unique_ptr<FakeStream>> clients;
};

} // namespace

TEST_CASE("of a hundred exchanges three fail, and the others end in both orders of their bodies") {
    Room room;
    std::vector<FakeStream*> good;
    for (int i = 0; i < 97; ++i)
        good.push_back(&room.start(put(std::string{"/"}.append(std::to_string(i)))));
    std::vector<std::shared_ptr<FakeCall>> calls = room.upstream->calls;
    room.upstream->room = 0;
    FakeStream& stalls = room.start(put("/stalls"));
    FakeStream& leaves = room.start(put("/leaves"));
    FakeStream& first = room.start(put("/closed"));
    FakeStream& refused = room.start(put("/closed"));
    stalls.give("abcd");
    room.gateway.settle();
    CHECK(room.gateway.limit("slot").in_flight() == 99);
    CHECK(refused.response.starts_with("429 "));
    CHECK(refused.end.has_value());
    CHECK_FALSE(refused.end->clean); // its body is still to come
    CHECK(room.upstream->calls.size() == 100);

    leaves.reset();
    room.gateway.settle();
    CHECK(leaves.end->gone);
    CHECK(room.upstream->calls[98]->aborted);

    for (std::size_t i = 0; i < good.size(); ++i) {
        FakeStream& client = *good[i];
        FakeCall& call = *calls[i];
        if (i % 2 == 0) { // the request's end comes first
            client.give("ab");
            room.gateway.settle();
            CHECK(client.credit == 2);
            client.give("cd");
            room.gateway.settle();
            CHECK(client.credit == 4);
            CHECK(call.request_done);
            call.answer(std::string{ok_head}, "h", false);
            room.gateway.settle();
            CHECK(client.response == "200 h");
            call.send("i");
            call.end();
        } else { // the response's head and a part of its body, then the request's end
            client.give("ab");
            call.answer(std::string{ok_head}, "h", false);
            room.gateway.settle();
            CHECK(client.response == "200 h");
            CHECK_FALSE(call.request_done);
            client.give("cd");
            room.gateway.settle();
            CHECK(client.credit == 4);
            CHECK(call.request_done);
            call.send("i");
            call.end();
        }
        room.gateway.settle();
        CHECK(client.response == "200 hi");
        REQUIRE(client.end.has_value());
        CHECK(client.end->clean);
        CHECK(call.body == "abcd");
        CHECK(call.kept);
        CHECK(call.gone);
    }
    CHECK(stalls.credit == 0); // the upstream has taken nothing
    CHECK_FALSE(stalls.end.has_value());
    CHECK(room.gateway.limit("slot").in_flight() == 1);

    room.gateway.pass(61s); // body_idle
    CHECK(stalls.response.starts_with("504 "));
    CHECK(stalls.end.has_value());
    CHECK(first.end.has_value());
    CHECK(room.gateway.limit("slot").in_flight() == 0);
    CHECK(room.gateway.context().deadlines.empty());
    CHECK(room.origins.users() == 1);
    CHECK(room.origins.cluster().own_in_flight() == 0);
}

TEST_CASE("credit is returned for each piece once the upstream has taken it") {
    Room room;
    room.upstream->room = 3;
    FakeStream& client = room.start(put("/", "Content-Length: 8"));
    client.give("ab");
    room.gateway.settle();
    CHECK(client.credit == 2);
    client.give("cdef");
    room.gateway.settle();
    CHECK(client.credit == 2); // a part of the second piece is not taken yet
    room.last_call().take(2);
    room.gateway.settle();
    CHECK(client.credit == 2);
    room.last_call().take(10);
    room.gateway.settle();
    CHECK(client.credit == 6);
    client.give("gh");
    room.gateway.settle();
    CHECK(client.credit == 8);
    CHECK(room.last_call().body == "abcdefgh");
    room.last_call().answer(std::string{ok_head});
    room.gateway.settle();
    CHECK(client.end->clean);
}

TEST_CASE("trailers go both ways") {
    Room room;
    FakeStream& client =
        room.start(put("/", "TE: trailers\r\nConnection: te\r\nTransfer-Encoding: chunked"));
    client.give("ab");
    room.gateway.settle();
    client.end_body("Sum: 7\r\r");
    room.gateway.settle();
    CHECK(room.last_call().body == "ab");
    CHECK(room.last_call().request_done);
    CHECK(room.last_call().request_trailer == "Sum: 7\r\r");

    room.last_call().answer(std::string{ok_head}, "hi", false);
    room.gateway.settle();
    room.last_call().end("grpc-status: 0\r\r");
    room.gateway.settle();
    CHECK(client.response == "200 hi");
    CHECK(client.trailer == "grpc-status: 0\r\r");
    CHECK(client.end->clean);
}

TEST_CASE("an idle connection that breaks is replaced once, and the request is sent whole") {
    Room room;
    room.upstream->idle = 1;
    FakeStream& client = room.start(std::string{get});
    REQUIRE(room.upstream->calls.size() == 1);
    room.last_call().break_off();
    room.gateway.settle();
    REQUIRE(room.upstream->calls.size() == 2);
    CHECK(room.upstream->calls[0]->gone);
    CHECK(room.last_call().request == "GET /");
    room.last_call().answer(std::string{ok_head}, "hi");
    room.gateway.settle();
    CHECK(client.response == "200 hi");
    CHECK(client.end->clean);
    CHECK(room.gateway.to_upstream().retries == 1);
}

TEST_CASE("a stream that breaks within the response resets the client's") {
    Room room;
    FakeStream& client = room.start(std::string{get});
    room.last_call().answer(std::string{ok_head}, "h", false);
    room.gateway.settle();
    room.last_call().break_off();
    room.gateway.settle();
    CHECK(client.response == "200 h");
    CHECK(client.end->reset);
    CHECK(room.gateway.ended(Outcome::upstream_failed, 2) == 1);
}

TEST_CASE("a client that takes nothing makes the upstream wait, and lets it go on when it does") {
    Room room;
    FakeStream& client = room.start(std::string{get});
    client.stalls = true;
    room.last_call().answer(std::string{ok_head}, "a", false);
    room.gateway.settle();
    room.last_call().send("b");
    room.gateway.settle();
    CHECK(client.response.empty());
    CHECK(room.last_call().pieces == "b"); // not read
    client.take_all();
    room.gateway.settle();
    CHECK(client.response == "200 ab");
    room.last_call().end();
    room.gateway.settle();
    CHECK(client.end->clean);
}

TEST_CASE("an upstream that answers before it has the request ends it") {
    Room room;
    room.upstream->room = 0;
    FakeStream& client = room.start(put("/"));
    client.give("abcd");
    room.gateway.settle();
    room.last_call().answer("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\n", "no");
    room.gateway.settle();
    CHECK(client.response == "413 no");
    REQUIRE(client.end.has_value());
    CHECK(client.credit == 0);
    CHECK_FALSE(room.last_call().kept);
}

TEST_CASE("a body that was read before a pause goes out with its request after the pause") {
    Room room{"routes: [{name: all, match: {path: /}, upstream: origin,\n"
              "  cooldown: {when_paused: wait, max_wait: 1h}}]"};
    room.start(std::string{get});
    const std::shared_ptr<FakeCall> asks_for_it = room.upstream->calls.front();
    room.upstream->idle = 1;
    room.upstream->idle_breaks = true;
    room.upstream->connects = false;
    FakeStream& client =
        *room.clients.emplace_back(std::make_unique<FakeStream>(room.peer, put("/")));
    client.reads_ahead = true;
    client.give("abcd");
    client.start(room.gateway.context().executor, room.service);
    room.gateway.settle();
    REQUIRE(room.upstream->calls.size() == 3); // the idle one has broken
    asks_for_it->answer("HTTP/1.1 503 No\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\n", "no");
    room.gateway.settle();
    room.upstream->calls[2]->connect();
    room.gateway.settle();
    CHECK(room.upstream->calls[2]->gone); // it waits for the pause instead
    CHECK(room.upstream->calls[2]->request.empty());

    room.upstream->idle = 1;
    room.upstream->idle_breaks = false;
    room.gateway.run_until([&] { return room.upstream->calls.size() == 4; });
    room.gateway.settle();
    CHECK(room.last_call().body == "abcd");
    CHECK(room.last_call().request_done);
    CHECK(client.credit == 4);
    room.last_call().answer(std::string{ok_head}, "hi");
    room.gateway.settle();
    CHECK(client.response == "200 hi");
    CHECK(client.end->clean);
}
