// A worker on its own thread: the test is its client, its upstream and its control thread.
#include "config/load.hpp"
#include "limits/registry.hpp"
#include "net/address.hpp"
#include "net/clock.hpp"
#include "runtime/compile.hpp"
#include "runtime/worker.hpp"
#include "runtime/worker_updates.hpp"
#include "silent_room.hpp"
#include "wire.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace {

using namespace stint;
using namespace std::chrono_literals;
using test::ListeningWire;
using test::Wire;

constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

struct Running {
    explicit Running(std::string_view more = "") {
        net::Endpoint address = listen("first");
        first = address;
        adopt(more, {{"first", {}}});
        worker.start();
    }

    // Opens a socket that the next adopt() hands over.
    net::Endpoint listen(std::string name) {
        auto opened = net::open_listeners(*net::ip_endpoint("127.0.0.1", 0), 1);
        const net::Endpoint address = opened.value().address;
        to_open.push_back({std::move(name), address, std::move(opened->sockets.front())});
        return address;
    }

    void adopt(std::string_view more, std::map<std::string, runtime::ListenerRole> listeners) {
        const auto config = config::load_text(
            "listeners: [{address: 127.0.0.1:1}]\nupstreams: {u: {endpoints: [" + upstream.text() +
                "]}}\nlimits: {slot: {concurrent: 9}}\n"
                "routes: [{name: r, match: {path: /}, upstream: u, limits: [slot]}]\n" +
                std::string{more},
            "test.yaml");
        if (!config)
            throw std::runtime_error{config.error().front().text()};
        runtime::Compiled compiled = runtime::compile(*config, registry, slots, ++generation);
        limit = compiled.limits.at(0).limit;
        snapshot = compiled.snapshot;
        worker.adopt(
            {compiled.snapshot,
             {slots.routes().size(), slots.refusals().size(), slots.upstreams().size()},
             std::exchange(to_open, {}),
             std::move(listeners)});
    }

    // What `ask` finds on the worker's thread, after everything that was posted before.
    template <class Ask>
    auto on_worker(Ask ask) {
        std::promise<decltype(ask(std::declval<proxy::Context&>()))> answer;
        worker.post([&](proxy::Context& context) { answer.set_value(ask(context)); });
        return answer.get_future().get();
    }

    // A request that waits for its upstream.
    std::pair<Wire, Wire> request_under_way() {
        Wire client = Wire::connect(loop, first);
        client.send(get);
        Wire far = upstream.accept();
        far.read_head();
        return {std::move(client), std::move(far)};
    }

    std::shared_future<void> drain(Duration most) {
        const auto drained = std::make_shared<std::promise<void>>();
        worker.drain(most, [drained] { drained->set_value(); });
        return drained->get_future();
    }

    net::asio::io_context loop; // for the test's own ends
    ListeningWire upstream{loop};
    limits::Registry registry;
    observe::MetricSlots slots;
    observe::AccessLog log{{observe::AccessLog::Target::Kind::off, {}}};
    test::SilentRoom room;
    proxy::Shared shared{registry.hasher(), room};
    locks::LockManager locks{registry, room.scheduler(), net::read_clocks().wall};
    permits::Shared permits{registry, locks};
    std::uint64_t generation = 0;
    limits::LimitPtr limit;
    routing::SnapshotPtr snapshot;
    net::Endpoint first;
    std::vector<runtime::OpenedListener> to_open;
    runtime::Worker worker{shared, permits, log.open_channel()};
};

bool refuses(net::asio::io_context& loop, const net::Endpoint& address) {
    try {
        (void)Wire::connect(loop, address);
        return false;
    } catch (const std::runtime_error&) {
        return true;
    }
}

bool ready(const std::shared_future<void>& future, Duration wait) {
    return future.wait_for(wait) == std::future_status::ready;
}

} // namespace

TEST_CASE("a worker serves what was adopted before its start") {
    Running running;
    auto [client, upstream] = running.request_under_way();

    upstream.send(ok);

    CHECK(client.read_until("hi").starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(running.on_worker([](auto& context) {
        return context.counters.connections_accepted;
    }) == 1);
    client.close();
    running.drain(10s).wait();
}

TEST_CASE("an adoption opens what is new, closes what has gone and keeps connections") {
    Running running;
    auto [client, upstream] = running.request_under_way();

    const net::Endpoint second = running.listen("second");
    running.adopt("", {{"second", {}}});
    running.on_worker([](auto&) { return 0; });

    CHECK(refuses(running.loop, running.first));
    CHECK_FALSE(refuses(running.loop, second));
    upstream.send(ok); // the connection that came through the closed listener goes on
    client.read_until("hi");
    client.send(get);
    upstream.read_head();
    upstream.send(ok);
    CHECK(client.read_until("hi").ends_with("hi"));
    running.drain(10s).wait();
}

TEST_CASE("other terms of a limit apply to the next request, and the worker keeps all else") {
    Running running;
    auto [client, upstream] = running.request_under_way();
    upstream.send(ok);
    client.read_until("hi");
    const auto kept = [&] {
        return running.on_worker([](proxy::Context& context) {
            const proxy::ActiveConfig& active = *context.active;
            return std::tuple{active.origins.at(0).get(), active.heavy_hitters.get()};
        });
    };
    const auto before = kept();
    auto blocking = std::make_shared<routing::Snapshot>(*running.snapshot);
    routing::LimitTerms terms = *blocking->limits.at(0);
    routing::KeyRules rules{{}, {}, std::make_shared<const routing::OverrideSet>()};
    rules.deny.networks.push_back(Cidr::parse("127.0.0.0/8").value());
    terms.rules = std::make_shared<const routing::KeyRules>(std::move(rules));
    blocking->limits.at(0) = std::make_shared<const routing::LimitTerms>(std::move(terms));

    running.worker.adopt_terms(blocking, runtime::counts_of(running.slots));
    client.send(get);
    CHECK(client.read_until("}\n").starts_with("HTTP/1.1 403 "));
    CHECK(kept() == before);

    running.worker.adopt_terms(running.snapshot, runtime::counts_of(running.slots));
    client.send(get);
    upstream.read_head(); // on the connection that the first request came on
    upstream.send(ok);
    client.read_until("hi");
    CHECK(kept() == before);
    client.close();
    running.drain(10s).wait();
}

TEST_CASE("an adoption changes what a listener allows for the connections after it") {
    Running running;
    running.adopt("", {{"first", {.options = {.half_close_allowed = true}}}});
    running.on_worker([](auto&) { return 0; });
    auto [client, upstream] = running.request_under_way();
    client.shutdown_send();
    running.on_worker([](auto&) { return 0; });

    upstream.send(ok);

    CHECK(client.read_to_end().ends_with("hi"));
    running.drain(10s).wait();
}

TEST_CASE("connections beyond max_connections are turned away with 503") {
    Running running{"max_connections: 1"};
    auto [client, upstream] = running.request_under_way();

    Wire second = Wire::connect(running.loop, running.first);

    CHECK(second.read_to_end().starts_with("HTTP/1.1 503 "));
    CHECK(running.on_worker([](auto& context) {
        return context.counters.connections_rejected;
    }) == 1);
    upstream.send(ok);
    CHECK(client.read_until("hi").ends_with("hi"));
    running.drain(10s).wait();
}

TEST_CASE("at max_connections one that only lingers gives way") {
    Running running{"max_connections: 1\nmax_body: 1KiB"};
    Wire refused = Wire::connect(running.loop, running.first);
    refused.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99000000\r\n\r\nabc");
    CHECK(refused.read_until("}\n").starts_with("HTTP/1.1 413 "));
    running.on_worker([](auto&) { return 0; });

    auto [client, upstream] = running.request_under_way();

    refused.wait_closed();
    CHECK(running.on_worker([](auto& context) {
        return context.counters.connections_rejected;
    }) == 0);
    upstream.send(ok);
    CHECK(client.read_until("hi").ends_with("hi"));
    running.drain(10s).wait();
}

TEST_CASE("draining closes listeners and idle connections and waits for requests under way") {
    Running running;
    Wire idle = Wire::connect(running.loop, running.first);
    auto [client, upstream] = running.request_under_way();

    const auto drained = running.drain(1h);
    running.on_worker([](auto&) { return 0; });

    CHECK(refuses(running.loop, running.first));
    CHECK(idle.read_to_end().empty());
    CHECK_FALSE(ready(drained, 0s));
    upstream.send(ok);
    const std::string response = client.read_to_end();
    CHECK(response.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(response.ends_with("hi"));
    CHECK(ready(drained, 20s));
}

TEST_CASE("requests that have arrived when a drain begins are answered, accepted or not") {
    Running running;
    auto [client, upstream] = running.request_under_way();
    upstream.send(ok);
    client.read_until("hi");
    std::promise<void> proceed;
    running.worker.post([&](auto&) { proceed.get_future().wait(); });
    client.send(get); // on an idle connection
    Wire late = Wire::connect(running.loop, running.first);
    late.send(get); // in the listener's queue
    Wire silent = Wire::connect(running.loop, running.first);

    const auto drained = running.drain(1h);
    proceed.set_value();

    Wire second = running.upstream.accept();
    for (Wire* const far : {&upstream, &second}) {
        far->read_head();
        far->send(ok);
    }
    for (Wire* const near : {&client, &late}) {
        const std::string response = near->read_to_end();
        CHECK(response.find("\r\nConnection: close\r\n") != std::string::npos);
        CHECK(response.ends_with("hi"));
    }
    CHECK(silent.read_to_end().empty());
    CHECK(ready(drained, 20s));
}

TEST_CASE("a client that was told it may go on before a drain may do so once") {
    Running running;
    auto [client, upstream] = running.request_under_way();
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh");
    REQUIRE(client.read_until("\r\n\r\nh").find("Connection: close") == std::string::npos);
    const auto drained = running.drain(1h);
    running.on_worker([](auto&) { return 0; });

    client.send(get); // pipelined, before the answer's end
    running.on_worker([](auto&) { return 0; });
    upstream.send("i");
    upstream.read_head();
    upstream.send(ok);

    const std::string rest = client.read_to_end();
    CHECK(rest.starts_with("iHTTP/1.1 200 OK\r\n"));
    CHECK(rest.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(rest.ends_with("hi"));
    CHECK(ready(drained, 20s));
}

TEST_CASE("what is left after the time to drain is cut, and its slot is free") {
    Running running;
    auto [client, upstream] = running.request_under_way();
    REQUIRE(running.limit->in_flight() == 1);

    const auto drained = running.drain(0s);

    CHECK(ready(drained, 20s));
    CHECK(client.read_to_end().empty());
    upstream.wait_closed();
    CHECK(running.limit->in_flight() == 0);
    CHECK(running.shared.connections == 0);
}

TEST_CASE("a drain without connections is done at once, and done is called once") {
    Running running;
    std::atomic<int> calls = 0;
    std::promise<void> drained;
    running.worker.drain(1h, [&] {
        if (calls++ == 0)
            drained.set_value();
    });

    drained.get_future().wait();
    running.on_worker([](auto&) { return 0; });

    CHECK(calls == 1);
}

TEST_CASE("a worker that was never started can be destroyed") {
    limits::Registry registry;
    observe::AccessLog log{{observe::AccessLog::Target::Kind::off, {}}};
    test::SilentRoom room;
    proxy::Shared shared{registry.hasher(), room};
    locks::LockManager locks{registry, room.scheduler(), net::read_clocks().wall};
    permits::Shared permits{registry, locks};

    const runtime::Worker worker{shared, permits, log.open_channel()};
}

TEST_CASE("a worker destroyed with a request under way frees its slot") {
    limits::LimitPtr limit;
    {
        Running running;
        auto [client, upstream] = running.request_under_way();
        limit = running.limit;
        REQUIRE(limit->in_flight() == 1);
    }

    CHECK(limit->in_flight() == 0);
}
