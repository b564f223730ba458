// Many requests on one connection at once, as HTTP/2 will bring them: exchanges on fake streams,
// without a client's socket.
#include "fake_stream.hpp"
#include "fixture.hpp"
#include "net/clock.hpp"
#include "proxy/service.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <vector>

using namespace stint;
using namespace stint::test;

namespace {

constexpr std::string_view queue_and_limit =
    "limits:\n"
    "  slot: {concurrent: 98, when_exceeded: wait, max_wait: 10s, max_waiting: 10}\n"
    "  small: {requests: 1, per: 1h}\n"
    "routes:\n"
    "  - {name: closed, match: {path: /closed}, upstream: origin, limits: [small]}\n"
    "  - {name: all, match: {path: /}, upstream: origin, limits: [slot]}\n";

std::string post(std::string_view path) {
    std::string head{"POST "};
    return head.append(path).append(" HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n");
}

struct Streams {
    explicit Streams(std::string_view yaml) : gateway{yaml}, service{gateway.context()} {}

    FakeStream& start(std::string head) {
        FakeStream& stream = *all.emplace_back(std::make_unique<FakeStream>(peer, std::move(head)));
        REQUIRE(stream.parsed);
        stream.start(gateway.context().executor, service);
        gateway.settle();
        return stream;
    }

    InProcessGateway gateway;
    proxy::Service service;
    routing::ClientAddress peer{*IpAddress::parse("192.0.2.1"), gateway.context().totals.hasher};
    std::vector<std::unique_ptr<FakeStream>> all;
};

} // namespace

TEST_CASE("of a hundred exchanges on one connection, three that fail leave the others alone") {
    Streams streams{queue_and_limit};
    InProcessGateway& gateway = streams.gateway;
    std::vector<Wire> origins;
    std::vector<FakeStream*> good;
    for (int i = 0; i < 97; ++i) {
        std::string path{"/"};
        path += std::to_string(i);
        good.push_back(&streams.start(post(path)));
        origins.push_back(gateway.upstream.accept());
        CHECK(has(origins.back().read_head(), path));
    }
    FakeStream& stalls = streams.start(post("/stalls"));
    origins.push_back(gateway.upstream.accept());
    FakeStream& waits = streams.start(post("/waits"));
    CHECK(gateway.limit("slot").in_flight() == 98);
    CHECK_FALSE(gateway.upstream.called());
    FakeStream& first = streams.start(post("/closed"));
    origins.push_back(gateway.upstream.accept());
    FakeStream& refused = streams.start(post("/closed"));

    waits.reset();
    gateway.settle();
    CHECK(waits.end->gone);
    CHECK(refused.response.starts_with("429 "));
    CHECK(refused.end.has_value());
    CHECK_FALSE(refused.end->clean); // its body is still to come

    // The responses end before the requests for every other one.
    for (std::size_t i = 0; i < good.size(); ++i) {
        const bool answered_early = i % 2 == 0;
        if (answered_early)
            origins[i].send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        gateway.settle();
        if (!answered_early) {
            good[i]->give("ab");
            gateway.settle();
            good[i]->give("cd");
            gateway.settle();
            CHECK(origins[i].read(4) == "abcd");
            origins[i].send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
            gateway.settle();
        }
        CHECK(good[i]->response == "200 hi");
        CHECK(good[i]->end.has_value());
    }
    CHECK(gateway.limit("slot").in_flight() == 1);
    CHECK_FALSE(stalls.end.has_value());

    gateway.pass(61s); // body_idle
    CHECK(stalls.response.starts_with("408 "));
    CHECK(stalls.end.has_value());
    CHECK(gateway.limit("slot").in_flight() == 0);
    CHECK(first.end.has_value()); // it has stalled as well
    CHECK(gateway.context().deadlines.empty());
}

TEST_CASE("a stream that takes nothing holds back its own response alone") {
    Streams streams{plain};
    InProcessGateway& gateway = streams.gateway;
    FakeStream& slow = streams.start(std::string{get});
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    slow.stalls = true;
    origin.send(ok);
    gateway.settle();
    CHECK_FALSE(slow.end.has_value());

    FakeStream& other = streams.start(std::string{get});
    Wire second = gateway.upstream.accept();
    second.read_head();
    second.send(ok);
    gateway.settle();
    CHECK(other.response == "200 hi");
    CHECK(other.end->clean);

    slow.take_all();
    gateway.settle();
    CHECK(slow.response == "200 hi");
    CHECK(slow.end->clean);
}

TEST_CASE("a response whose client takes none of it ends when the client goes") {
    TempFolder folder;
    Streams streams{plain};
    InProcessGateway& gateway = streams.gateway;
    gateway.log_to(folder.file("access.json"));
    FakeStream& stream = streams.start(std::string{get});
    stream.stalls = true;
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    origin.send(ok);
    gateway.settle();
    const SteadyTime until = net::read_steady_clock() + 20ms;
    while (net::read_steady_clock() < until) {
    }

    stream.reset();

    gateway.run_until([&] { return gateway.lines_logged() == 1; });
    const nlohmann::json line = nlohmann::json::parse(folder.read("access.json"));
    CHECK(line["decision"] == "client_gone");
    CHECK(line["duration_ms"].get<double>() >= line["upstream_ms"].get<double>() + 20);
}

TEST_CASE("a stream that is reset while it waits for its answer is cancelled at the upstream") {
    Streams streams{one_at_a_time};
    InProcessGateway& gateway = streams.gateway;
    FakeStream& stream = streams.start(std::string{get});
    Wire origin = gateway.upstream.accept();
    origin.read_head();
    CHECK(gateway.limit("slot").in_flight() == 1);

    stream.reset();
    gateway.settle();

    CHECK(stream.end->gone);
    CHECK(stream.response.empty());
    CHECK(gateway.limit("slot").in_flight() == 0);
    origin.wait_closed();
}
