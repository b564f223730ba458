// Limits that gateways share, through requests to forward: a request waits for the store's answer,
// and nothing is charged or left over meanwhile.
#include "fake_shares.hpp"
#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace stint;
using namespace stint::test;

namespace {

using limits::OnStoreFailure;

constexpr std::string_view yaml =
    "limits:\n"
    "  own: {requests: 9, per: 1h}\n"
    "  all: {requests: 3, per: 1h}\n"
    "  slot: {concurrent: 1}\n"
    "  turn: {concurrent: 1, when_exceeded: wait, max_wait: 1h}\n"
    "routes:\n"
    "  - {name: main, match: {path: /}, upstream: origin, limits: [own, slot, all]}\n"
    "  - {name: turns, match: {path: /turn}, upstream: origin, limits: [own, turn, all]}\n"
    "  - {name: free, match: {path: /free}, upstream: origin}\n"
    "  - {name: answers, match: {path: /answer}, respond: {status: 204}, limits: [own, all]}\n"
    "  - {name: paused, match: {path: /pause}, upstream: origin, limits: [own, all],\n"
    "     cooldown: {scope: host, when_paused: wait, max_wait: 1h, max_cooldown: 20ms}}\n"
    "  - {name: refusing, match: {path: /refusing}, upstream: origin, limits: [own, all],\n"
    "     cooldown: {}}\n";
constexpr std::string_view asks_for_a_pause =
    "HTTP/1.1 503 No\r\nRetry-After: 600\r\nContent-Length: 2\r\n\r\nhi";

std::string get_of(std::string_view path) {
    return "GET " + std::string{path} + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

// A whole response of known length, of the gateway's or of the upstream's.
std::string read_answer(Wire& wire) {
    std::string answer = wire.read_head();
    constexpr std::string_view name = "Content-Length: ";
    const std::size_t at = answer.find(name);
    return at == std::string::npos
               ? answer
               : answer + wire.read(std::stoul(answer.substr(at + name.size())));
}

// A gateway that shares the limit `all` with others, and has no share of it yet.
class Sharing {
  public:
    explicit Sharing(
        OnStoreFailure on_failure = OnStoreFailure::share,
        Duration timeout = 1h,
        std::string_view config = yaml)
        : gateway{config} {
        share_limits(*gateway.context().active->snapshot, {"all"}, {store, on_failure, timeout});
    }

    void give(std::uint64_t units) {
        FakeShares::set(gateway.limit("all"), units, net::read_clocks());
    }
    void grant(std::uint64_t units) {
        store->grant(units, net::read_clocks());
        gateway.settle();
    }
    void refuse() {
        store->refuse(net::read_clocks());
        gateway.settle();
    }
    void fail() {
        store->fail();
        gateway.settle();
    }
    // As settle(), without the tick that polls clients.
    void run_without_tick() {
        gateway.loop().restart();
        for (int idle_turns = 0; idle_turns < 3;)
            idle_turns = gateway.loop().poll() > 0 ? 0 : idle_turns + 1;
    }

    // A client whose request waits for the store.
    Wire begin(std::string_view request) {
        Wire client = gateway.connect();
        ask(client, request);
        return client;
    }
    void ask(Wire& client, std::string_view request) {
        const std::size_t before = store->asked.size();
        client.send(request);
        gateway.settle();
        REQUIRE(store->asked.size() == before + 1);
        REQUIRE(client.received().empty());
        REQUIRE_FALSE(was_sent());
    }
    bool was_sent() const { return gateway.upstream.called(); }
    Wire accept(std::string_view request_line = "GET / ") {
        Wire origin = gateway.upstream.accept();
        CHECK(origin.read_head().starts_with(request_line));
        return origin;
    }

    std::uint64_t used(std::string_view name) {
        return gateway.limit(name).state_of({nullptr, {}, 99}, net::read_clocks()).used;
    }
    void check_charged(std::uint64_t times) {
        gateway.settle();
        CHECK(used("own") == times);
        CHECK(used("all") == times);
        check_nothing_held();
    }
    void check_nothing_held() {
        CHECK(gateway.limit("slot").in_flight() == 0);
        CHECK(gateway.limit("turn").in_flight() == 0);
        CHECK(gateway.limit("turn").waiting() == 0);
        CHECK(gateway.context().shares.waiting() == 0);
        for (const auto& endpoint : gateway.context().active->snapshot->upstreams->at(0).endpoints)
            CHECK(endpoint.state->in_flight() == 0);
        for (const observe::RouteCounters& route : gateway.context().counters.routes)
            CHECK(route.in_flight == 0);
    }
    // Its clients have gone: no deadline is armed, no client is watched.
    void check_quiet() {
        gateway.run_until([this] { return gateway.context().connections.empty(); });
        CHECK(gateway.context().deadlines.empty());
        CHECK(gateway.context().clients.watches_none());
        CHECK(gateway.context().clients.guards_none());
        check_nothing_held();
    }

    std::shared_ptr<FakeShares> store = std::make_shared<FakeShares>();
    InProcessGateway gateway;
};

// Answers the request at the upstream; the client gets it.
void serve(Wire& origin, Wire& client) {
    origin.send(ok);
    CHECK(has(read_response(client), "200 OK"));
}

void check_refused(const std::string& answer) {
    CHECK(answer.starts_with("HTTP/1.1 429 "));
    CHECK(has(answer, "\r\nRetry-After: 3600\r\n"));
    CHECK(has(answer, R"("limit":"all")"));
}

enum class End { closes, resets, closes_sending_side };

void end(Wire& client, End how) {
    if (how == End::closes)
        client.close();
    else if (how == End::resets)
        client.reset();
    else
        client.shutdown_send();
}

std::string post_of(std::size_t size, std::string_view more = "") {
    return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n" +
           std::string{more} + "\r\n";
}

} // namespace

TEST_CASE("a request for which the share suffices goes at once") {
    Sharing test;
    test.give(1);
    Wire client = test.gateway.connect();
    client.send(get);
    Wire origin = test.accept();
    serve(origin, client);
    CHECK(test.store->all_asked == 0);
    test.check_charged(1);
}

TEST_CASE("a request for which the share is too small goes once it has grown") {
    Sharing test;
    Wire client = test.begin(get);
    CHECK(test.gateway.limit("slot").in_flight() == 0);
    CHECK(test.used("own") == 0);

    test.grant(2);
    Wire origin = test.accept();
    CHECK(test.gateway.limit("slot").in_flight() == 1);
    serve(origin, client);
    test.check_charged(1);

    client.send(get); // within the share, on kept connections
    origin.read_head();
    serve(origin, client);
    test.ask(client, get);
    test.grant(3);
    origin.read_head();
    serve(origin, client);
    test.check_charged(3);
    CHECK(test.gateway.ended(Outcome::forwarded, 2) == 3);
    client.close();
    test.check_quiet();
}

TEST_CASE("a request that gets no larger share is refused, and its connection goes on") {
    Sharing test;
    Wire client = test.begin(get);
    test.refuse();
    check_refused(read_answer(client));
    test.check_charged(0);
    CHECK(test.gateway.limit("all").refused() == 1);
    CHECK(test.gateway.ended(Outcome::refused, 4) == 1);

    client.send(get); // the store has said that there is no more
    check_refused(read_answer(client));
    CHECK(test.store->all_asked == 1);

    test.give(1);
    client.send(get);
    Wire origin = test.accept();
    serve(origin, client);
    test.check_charged(1);
    client.close();
    test.check_quiet();
}

TEST_CASE("a store that fails leaves a request to its limit's policy") {
    for (const OnStoreFailure policy : {OnStoreFailure::share, OnStoreFailure::open}) {
        CAPTURE(static_cast<int>(policy));
        Sharing test{policy};
        Wire client = test.begin(get);
        test.fail();
        if (policy == OnStoreFailure::open) {
            Wire origin = test.accept();
            serve(origin, client);
            test.check_charged(1);
            continue;
        }
        const std::string answer = read_answer(client);
        CHECK(answer.starts_with("HTTP/1.1 503 "));
        CHECK(has(answer, "\r\nRetry-After: 1\r\n"));
        test.check_charged(0);
    }
}

TEST_CASE("the time for a store's answer ends by itself") {
    Sharing test{OnStoreFailure::share, 1ms};
    Wire client = test.gateway.connect();
    client.send(get);
    test.gateway.run_until([&] { return !client.received().empty(); });
    CHECK(read_answer(client).starts_with("HTTP/1.1 503 "));
    test.grant(1); // too late, but for the next one
    test.check_charged(0);
    client.send(get);
    Wire origin = test.accept();
    serve(origin, client);
    client.close();
    test.check_quiet();
}

TEST_CASE("a client that goes before the store answers leaves nothing behind") {
    for (const End how : {End::closes, End::resets, End::closes_sending_side})
        for (const std::string& request : {std::string{get}, post_of(9) + "abc"}) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(request);
            Sharing test;
            Wire client = test.begin(request);
            end(client, how);
            test.gateway.settle();
            test.check_nothing_held();
            test.grant(3);
            test.check_charged(0);
            test.check_quiet();
            CHECK(test.gateway.ended(Outcome::client_gone, 0) == 1);
            CHECK_FALSE(test.was_sent());
        }
}

TEST_CASE("a client that goes in the turn of the store's answer is not served") {
    for (const End how : {End::closes, End::resets, End::closes_sending_side})
        for (const std::string& request : {std::string{get}, post_of(9) + "abc"})
            for (const bool before : {false, true}) {
                CAPTURE(static_cast<int>(how));
                CAPTURE(request);
                CAPTURE(before);
                Sharing test;
                Wire client = test.gateway.connect();
                client.send(get_of("/free"));
                Wire idle = test.accept("GET /free "); // takes the next request at once
                serve(idle, client);
                test.ask(client, request);

                if (before)
                    end(client, how);
                test.store->grant(3, net::read_clocks());
                if (!before)
                    end(client, how);
                test.run_without_tick();

                CHECK(idle.received().empty());
                test.check_charged(0);
                test.check_quiet();
                CHECK(test.gateway.ended(Outcome::client_gone, 0) == 1);
            }
}

TEST_CASE("a connection that is aborted as the store answers leaves nothing behind") {
    for (const bool before : {false, true}) {
        CAPTURE(before);
        Sharing test;
        Wire client = test.begin(get);
        if (before)
            test.gateway.context().abort_connections();
        test.store->grant(3, net::read_clocks());
        if (!before)
            test.gateway.context().abort_connections();
        test.gateway.settle();
        test.check_charged(0);
        test.check_quiet();
        CHECK_FALSE(test.was_sent());
    }
}

TEST_CASE("a gateway may end while requests wait for the store") {
    const auto store = std::make_shared<FakeShares>();
    Sharing test;
    Wire first = test.begin(get_of("/answer"));
    Wire second = test.begin(get_of("/turn"));
    CHECK(test.gateway.context().shares.waiting() == 2);
}

TEST_CASE("a request may wait for a share, and then for its turn") {
    Sharing test;
    test.give(1);
    Wire first = test.gateway.connect();
    first.send(get_of("/turn"));
    Wire origin = test.accept("GET /turn ");
    Wire second = test.gateway.connect();
    second.send(get_of("/turn"));
    test.gateway.settle();
    CHECK(test.store->asked.size() == 1);
    CHECK(test.gateway.limit("turn").waiting() == 0);
    test.grant(2);
    CHECK(test.gateway.limit("turn").waiting() == 1);
    serve(origin, first);
    test.gateway.open();
    origin.read_head();
    serve(origin, second);
    test.check_charged(2);
}

TEST_CASE("a pause that begins during the wait gives the charges back") {
    for (const std::string_view path : {"/pause", "/refusing"}) {
        CAPTURE(path);
        Sharing test;
        test.give(1);
        Wire first = test.gateway.connect();
        first.send(get_of(path));
        Wire origin = test.accept("GET " + std::string{path} + " ");
        Wire second = test.begin(get_of(path));
        origin.send(asks_for_a_pause);
        CHECK(has(read_response(first), "503 No"));

        test.store->grant(3, net::read_clocks());
        const bool waits = path == "/pause";
        test.gateway.settle();

        CHECK(test.used("own") == 1);
        CHECK(test.used("all") == 1);
        CHECK(origin.received().empty());
        if (waits) {
            test.gateway.run_until([&] { return !origin.received().empty(); });
            origin.read_head();
            serve(origin, second);
        } else {
            CHECK(has(read_answer(second), "503 "));
        }
        test.check_charged(waits ? 2 : 1);
    }
}

TEST_CASE("a request whose route responds itself waits, too") {
    Sharing test;
    Wire client = test.begin(get_of("/answer"));
    test.grant(1);
    CHECK(client.read_head().starts_with("HTTP/1.1 204 "));
    test.ask(client, get_of("/answer"));
    test.refuse();
    check_refused(read_answer(client));
    test.check_charged(1);
}

TEST_CASE("a body that comes in pieces around the store's answer is forwarded whole") {
    struct Row {
        std::string before, meanwhile, after;
    };
    const Row rows[] = {
        {post_of(9), "", "abcdefghi"},
        {post_of(9) + "abc", "def", "ghi"},
        {post_of(9) + "abcdefghi", "", ""}};
    for (const Row& row : rows) {
        CAPTURE(row.before);
        Sharing test;
        Wire client = test.begin(row.before);
        client.send(row.meanwhile);
        test.gateway.settle();
        CHECK_FALSE(test.was_sent());
        test.grant(1);
        client.send(row.after);
        Wire origin = test.accept("POST / ");
        CHECK(origin.read(9) == "abcdefghi");
        serve(origin, client);
        test.check_charged(1);
    }
}

TEST_CASE("a client that waits for 100 gets it after the store's grant, and not with a refusal") {
    for (const bool refuse : {false, true}) {
        CAPTURE(refuse);
        Sharing test;
        Wire client = test.begin(post_of(5, "Expect: 100-continue\r\n"));
        if (refuse) {
            test.refuse();
            check_refused(read_answer(client));
            continue;
        }
        test.grant(1);
        Wire origin = test.accept("POST / ");
        CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
        client.send("hello");
        CHECK(origin.read(5) == "hello");
        serve(origin, client);
        test.check_charged(1);
    }
}

TEST_CASE("requests pipelined behind one that waits for the store are answered in their order") {
    Sharing test;
    Wire client = test.gateway.connect();
    test.ask(client, get_of("/") + get_of("/free") + get_of("/answer"));
    test.grant(1);
    Wire origin = test.accept();
    serve(origin, client);
    CHECK(origin.read_head().starts_with("GET /free "));
    serve(origin, client);
    test.gateway.settle();
    CHECK(test.store->asked.size() == 1);
    test.refuse();
    check_refused(read_answer(client));
    test.check_charged(1);
}

TEST_CASE("a request that waits for the store ends under the configuration it came with") {
    for (const bool refuse : {false, true}) {
        CAPTURE(refuse);
        Sharing test;
        Wire client = test.begin(get);
        const limits::LimitPtr all = test.gateway.limit("all").weak_from_this().lock();
        test.gateway.reload(plain);
        test.gateway.settle();
        if (refuse) {
            test.refuse();
            check_refused(read_answer(client));
        } else {
            test.grant(1);
            Wire origin = test.accept();
            serve(origin, client);
        }
        CHECK(all->state_of({nullptr, {}, 99}, net::read_clocks()).used == (refuse ? 0 : 1));
        CHECK(test.gateway.context().shares.waiting() == 0);
    }
}
