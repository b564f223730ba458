// Limits that gateways share, through requests to forward: a store answers at once, later, or not
// at all, and nothing is left over.
#include "fake_shared_counters.hpp"
#include "fixture.hpp"
#include "net/clock.hpp"
#include "shared_limits.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

using namespace stint;
using namespace stint::test;

namespace {

using Way = FakeSharedCounters::Script::Way;
using limits::OnStoreFailure;

constexpr std::string_view yaml =
    "limits:\n"
    "  own: {requests: 9, per: 1h}\n"
    "  all: {requests: 3, per: 1h, key: client_ip}\n"
    "  slot: {concurrent: 1}\n"
    "  turn: {concurrent: 1, when_exceeded: wait, max_wait: 1h}\n"
    "routes:\n"
    "  - {name: main, match: {path: /}, upstream: origin, limits: [own, slot, all]}\n"
    "  - {name: turns, match: {path: /turn}, upstream: origin, limits: [own, turn, all]}\n"
    "  - {name: open, match: {path: /open}, upstream: origin, limits: [own, all]}\n"
    "  - {name: free, match: {path: /free}, upstream: origin}\n"
    "  - {name: answers, match: {path: /answer}, respond: {status: 204}, limits: [own, slot, "
    "all]}\n"
    "  - {name: paused, match: {path: /pause}, upstream: origin, limits: [own, slot, all],\n"
    "     cooldown: {scope: host, when_paused: wait, max_wait: 1h, max_cooldown: 20ms}}\n"
    "  - {name: paused_turns, match: {path: /pause_turn}, upstream: origin,\n"
    "     limits: [own, turn, all], cooldown: {scope: host, when_paused: wait, max_wait: 1h}}\n"
    "  - {name: impatient, match: {path: /impatient}, upstream: origin, limits: [own, slot, all],\n"
    "     cooldown: {when_paused: wait, max_wait: 1ms}}\n"
    "  - {name: refusing, match: {path: /refusing}, upstream: origin, limits: [own, slot, all],\n"
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

// A gateway that shares the limit `all` with others.
class Sharing {
  public:
    explicit Sharing(limits::SharedTerms on_terms, std::string_view config = yaml)
        : terms{on_terms}, gateway{config} {
        begin_sharing();
    }
    Sharing(limits::SharedTerms on_terms, InProcessGateway::TwoEndpoints two)
        : terms{on_terms}, gateway{yaml, std::move(two)} {
        begin_sharing();
    }

    // From now on the store answers late, whenever deliver() is called.
    void answer_late(bool refuse = false, Way way = Way::late) {
        store.script = {.way = way, .delay = 1h, .refuse = refuse};
    }
    // The store answers all that it was asked; nothing resumes yet.
    void answer() { store.deliver({net::read_steady_clock() + 2h, {}}); }
    void deliver() {
        answer();
        gateway.settle();
    }
    // As settle(), without the tick that polls clients.
    void run_without_tick() {
        gateway.loop().restart();
        for (int idle_turns = 0; idle_turns < 3;)
            idle_turns = gateway.loop().poll() > 0 ? 0 : idle_turns + 1;
    }
    // The time for an answer is over.
    void expire() {
        store.charges.expire({net::read_steady_clock() + 2h, {}});
        gateway.settle();
    }

    // A client whose request waits for the store.
    Wire begin(std::string_view request) {
        Wire client = gateway.connect();
        ask(client, request);
        return client;
    }
    void ask(Wire& client, std::string_view request) {
        const std::size_t before = store.unanswered();
        client.send(request);
        gateway.settle();
        REQUIRE(store.unanswered() == before + 1);
        REQUIRE(store.charges.waiting() == before + 1);
        REQUIRE(client.received().empty());
        REQUIRE_FALSE(was_sent());
    }
    // True if a request, or a connection for it, has come to an upstream that has none yet.
    bool was_sent() const { return gateway.upstream.called() || gateway.second.called(); }

    // A connection of an upstream with the request that came on it.
    Wire accept(std::string_view request_line = "GET / ") {
        Wire origin = gateway.upstream.accept();
        CHECK(origin.read_head().starts_with(request_line));
        return origin;
    }

    std::uint64_t used(std::string_view name) {
        return gateway.limit(name).state_of({nullptr, {}, 99}, net::read_clocks()).used;
    }
    std::uint64_t stored() { return store.used_of_all(gateway.limit("all")); }
    std::uint64_t in_flight(std::string_view name) { return gateway.limit(name).in_flight(); }
    std::size_t waits_for_pause() {
        std::set<limits::CooldownSet*> sets; // routes may share one
        for (const routing::Route& route : gateway.context().active->snapshot->routes.routes())
            if (route.cooldown.set)
                sets.insert(&*route.cooldown.set);
        std::size_t sum = 0;
        for (limits::CooldownSet* const each : sets)
            sum += each->totals(net::read_steady_clock()).waiting;
        return sum;
    }

    // All requests have ended, and were counted as often here and in the store.
    void check_charged(std::uint64_t times) {
        gateway.settle();
        CHECK(used("own") == times);
        CHECK(stored() == times);
        check_nothing_held();
    }
    void check_nothing_held() {
        CHECK(in_flight("slot") == 0);
        CHECK(in_flight("turn") == 0);
        CHECK(gateway.limit("turn").waiting() == 0);
        CHECK(waits_for_pause() == 0);
        CHECK(store.unanswered() == 0);
        CHECK(store.charges.waiting() == 0);
        CHECK(store.wrong() == 0);
        for (const auto& endpoint : gateway.context().active->snapshot->upstreams->at(0).endpoints)
            CHECK(endpoint.state->in_flight() == 0);
        for (const observe::RouteCounters& route : gateway.context().counters.routes)
            CHECK(route.in_flight == 0);
    }
    // Its clients have gone: no deadline is armed, nobody is watched.
    void check_quiet() {
        gateway.run_until([this] { return gateway.context().connections.empty(); });
        CHECK(gateway.context().deadlines.empty());
        CHECK(gateway.context().clients.watches_none());
        CHECK(gateway.context().clients.guards_none());
        check_nothing_held();
    }

    const limits::SharedTerms terms;
    FakeSharedCounters store;
    InProcessGateway gateway;

  private:
    void begin_sharing() {
        gateway.context().shared_charges = &store.charges;
        share_limits(*gateway.context().active->snapshot, {"all"}, terms);
    }
};

constexpr limits::SharedTerms patient{.on_failure = OnStoreFailure::strict, .timeout = 1h};

// Answers the request at the upstream; the client gets it.
void serve(Wire& origin, Wire& client) {
    origin.send(ok);
    CHECK(has(read_response(client), "200 OK"));
}

void check_refused(const std::string& answer) {
    CHECK(answer.starts_with("HTTP/1.1 429 "));
    CHECK(has(answer, "\r\nRetry-After: 7\r\n"));
    CHECK(has(answer, R"("limit":"all")"));
}

} // namespace

TEST_CASE("a request that the store grants within the call goes at once") {
    Sharing test{patient};
    Wire client = test.gateway.connect();
    client.send(get);

    Wire origin = test.accept();
    CHECK(test.in_flight("slot") == 1);
    serve(origin, client);

    test.check_charged(1);
    CHECK(test.used("all") == 0); // the store counts it
    client.close();
    test.check_quiet();
}

TEST_CASE("a request that the store grants later goes then, with its slot held meanwhile") {
    Sharing test{patient};
    test.answer_late();
    Wire client = test.begin(get);
    CHECK(test.in_flight("slot") == 1);
    CHECK(test.used("own") == 1);

    test.deliver();

    Wire origin = test.accept();
    CHECK(test.in_flight("slot") == 1);
    serve(origin, client);
    test.check_charged(1);
    CHECK(test.gateway.ended(Outcome::forwarded, 2) == 1);

    test.ask(client, get); // on kept connections
    test.deliver();
    origin.read_head();
    serve(origin, client);
    test.check_charged(2);
    client.close();
    test.check_quiet();
}

TEST_CASE("a request that the store refuses gets 429, its charges back, and its connection") {
    for (const Way way : {Way::at_once, Way::late}) {
        CAPTURE(static_cast<int>(way));
        Sharing test{patient};
        test.store.script = {.way = way, .delay = 1h, .refuse = true};
        Wire client = test.gateway.connect();
        client.send(get);
        test.gateway.settle();
        CHECK(test.in_flight("slot") == (way == Way::late ? 1 : 0));
        test.deliver();

        check_refused(read_answer(client));

        test.check_charged(0);
        CHECK(test.gateway.limit("all").refused() == 1);
        CHECK(test.gateway.ended(Outcome::refused, 4) == 1);
        CHECK_FALSE(test.was_sent());

        test.store.script = {};
        client.send(get);
        Wire origin = test.accept();
        serve(origin, client);
        test.check_charged(1);
        client.close();
        test.check_quiet();
    }
}

TEST_CASE("a store that does not answer in time leaves a request to its limit's policy") {
    struct Row {
        limits::SharedTerms terms;
        bool served;
        bool counted_here = false;
    };
    const Row rows[] = {
        {{.on_failure = OnStoreFailure::open, .timeout = 1h}, true},
        {{.on_failure = OnStoreFailure::closed, .timeout = 1h}, false},
        {{.on_failure = OnStoreFailure::strict, .timeout = 1h}, false},
        {{.on_failure = OnStoreFailure::share, .timeout = 1h}, false},
        {{.on_failure = OnStoreFailure::share, .reserve = {.quota = 1}, .timeout = 1h},
         true,
         true}};
    for (const Way way : {Way::late, Way::lost_before, Way::lost_after})
        for (const Row& row : rows) {
            CAPTURE(static_cast<int>(way));
            CAPTURE(static_cast<int>(row.terms.on_failure));
            Sharing test{row.terms};
            test.answer_late(false, way);
            Wire client = test.begin(get);

            test.expire();

            if (row.served) {
                Wire origin = test.accept();
                CHECK(test.in_flight("slot") == 1);
                serve(origin, client);
            } else {
                const std::string answer = read_answer(client);
                CHECK(answer.starts_with("HTTP/1.1 503 "));
                CHECK(has(answer, "\r\nRetry-After: 1\r\n"));
                CHECK_FALSE(test.was_sent());
            }
            test.gateway.settle();
            CHECK(test.store.unanswered() == 1);
            CHECK(test.store.cancelled().size() == 1);
            test.deliver(); // too late
            CHECK(test.used("own") == (row.served ? 1 : 0));
            CHECK(test.gateway.limit("all").refused() == (row.served ? 0 : 1));
            if (row.counted_here) { // its share is used up
                test.ask(client, get);
                test.expire();
                const std::string answer = read_answer(client);
                CHECK(answer.starts_with("HTTP/1.1 429 "));
                CHECK(has(answer, R"("limit":"all")"));
                test.deliver();
                CHECK(test.used("own") == 1);
            }
            CHECK(test.stored() == 0);
            test.check_nothing_held();
            client.close();
            test.check_quiet();
        }
}

TEST_CASE("a request whose answer is lost gets 503 before the time is over") {
    for (const Way way : {Way::lost_before, Way::lost_after}) {
        CAPTURE(static_cast<int>(way));
        Sharing test{patient};
        test.answer_late(false, way);
        Wire client = test.begin(get);

        test.deliver();

        const std::string answer = read_answer(client);
        CHECK(answer.starts_with("HTTP/1.1 503 "));
        CHECK(has(answer, "\r\nRetry-After: 1\r\n"));
        test.check_charged(0);

        test.store.script = {};
        client.send(get);
        Wire origin = test.accept();
        serve(origin, client);
        test.check_charged(1);
    }
}

TEST_CASE("a request's time for an answer ends by itself") {
    Sharing test{{.on_failure = OnStoreFailure::strict, .timeout = 1ms}};
    test.answer_late();
    Wire client = test.gateway.connect();
    client.send(get);

    test.gateway.run_until([&] { return !client.received().empty(); });

    CHECK(read_answer(client).starts_with("HTTP/1.1 503 "));
    test.deliver();
    test.check_charged(0);
    client.close();
    test.check_quiet();
}

namespace {

enum class End { closes, resets, closes_sending_side };

void end(Wire& client, End how) {
    if (how == End::closes)
        client.close();
    else if (how == End::resets)
        client.reset();
    else
        client.shutdown_send();
}

} // namespace

TEST_CASE("a client that goes before the store answers leaves nothing behind") {
    for (const End how : {End::closes, End::resets, End::closes_sending_side})
        for (const Way way : {Way::late, Way::lost_before, Way::lost_after})
            for (const bool refuse : {false, true}) {
                CAPTURE(static_cast<int>(how));
                CAPTURE(static_cast<int>(way));
                CAPTURE(refuse);
                Sharing test{patient};
                test.answer_late(refuse, way);
                Wire client = test.begin(get);

                end(client, how);
                test.gateway.settle();

                CHECK(test.used("own") == 0); // at once
                CHECK(test.in_flight("slot") == 0);
                CHECK(test.store.charges.waiting() == 0);
                CHECK(test.store.cancelled().size() == 1);
                test.deliver();
                test.check_charged(0);
                test.check_quiet();
                CHECK(test.gateway.ended(Outcome::client_gone, 0) == 1);
                CHECK_FALSE(test.was_sent());
            }
}

TEST_CASE("a client that has gone when the store answers is not served, and charged nothing") {
    const std::string post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc";
    for (const End how : {End::closes, End::resets, End::closes_sending_side})
        for (const std::string& request : {std::string{get}, post}) // nothing reads the rest
            for (const bool refuse : {false, true})
                for (const bool before : {false, true}) {
                    CAPTURE(static_cast<int>(how));
                    CAPTURE(request);
                    CAPTURE(refuse);
                    CAPTURE(before);
                    Sharing test{patient};
                    Wire client = test.gateway.connect();
                    client.send(get_of("/free"));
                    Wire idle = test.accept("GET /free "); // takes the next request at once
                    serve(idle, client);
                    test.answer_late(refuse);
                    test.ask(client, request);

                    if (before)
                        end(client, how);
                    test.answer();
                    if (!before)
                        end(client, how);
                    test.run_without_tick(); // the same turn of the loop meets both

                    CHECK(idle.received().empty());
                    test.check_charged(0);
                    test.check_quiet();
                    CHECK(test.gateway.ended(Outcome::client_gone, 0) == 1);
                    CHECK_FALSE(test.was_sent());
                }
}

TEST_CASE("a client that goes some steps after the store's answer is charged if it was served") {
    for (int steps = 0; steps < 12; ++steps) {
        INFO("hung up after ", steps, " handlers");
        Sharing test{patient};
        test.answer_late();
        Wire client = test.begin(get);
        test.answer();
        test.gateway.loop().restart();
        for (int i = 0; i < steps; ++i)
            test.gateway.loop().poll_one();
        const bool sent = test.was_sent();

        client.close();
        test.gateway.settle();

        CHECK(test.was_sent() == sent);
        test.check_charged(sent ? 1 : 0);
        test.check_quiet();
    }
}

TEST_CASE("a connection that is aborted as the store answers leaves nothing behind") {
    for (const bool refuse : {false, true})
        for (const bool before : {false, true}) {
            CAPTURE(refuse);
            CAPTURE(before);
            Sharing test{patient};
            test.answer_late(refuse);
            Wire client = test.begin(get);

            if (before)
                test.gateway.context().abort_connections();
            test.answer();
            if (!before)
                test.gateway.context().abort_connections();
            test.gateway.settle();

            test.check_charged(0);
            test.check_quiet();
            CHECK_FALSE(test.was_sent());
        }
}

TEST_CASE("a gateway that ends while requests wait for the store leaves nothing behind") {
    FakeSharedCounters store;
    limits::LimitPtr all;
    {
        Sharing test{patient};
        test.gateway.context().shared_charges = &store.charges;
        store.script = {.way = Way::late, .delay = 1h};
        Wire first = test.gateway.connect();
        Wire second = test.gateway.connect();
        first.send(get_of("/answer"));
        second.send(get_of("/turn"));
        test.gateway.settle();
        REQUIRE(store.unanswered() == 2);
        all = test.gateway.limit("all").weak_from_this().lock();
    }
    CHECK(store.cancelled().size() == 2);
    store.deliver({net::read_steady_clock() + 2h, {}});
    CHECK(store.used_of_all(*all) == 0);
    CHECK(store.wrong() == 0);
}

namespace {

// A request that holds the only turn, and one that waits for it.
struct Queued {
    Queued() {
        test.store.script = {};
        first.send(get_of("/turn"));
        origin.emplace(test.accept("GET /turn "));
        second.send(get_of("/turn"));
        test.gateway.settle();
        REQUIRE(test.gateway.limit("turn").waiting() == 1);
        REQUIRE(test.stored() == 1);
        test.answer_late();
    }
    // The first one ends; the second one asks the store.
    void pass_turn() {
        serve(*origin, first);
        test.gateway.open();
        CHECK(test.gateway.limit("turn").waiting() == 0);
        CHECK(test.in_flight("turn") == 1);
        CHECK(test.store.unanswered() == 1);
        CHECK(second.received().empty());
        CHECK(origin->received().empty());
    }

    Sharing test{patient};
    Wire first = test.gateway.connect();
    Wire second = test.gateway.connect();
    std::optional<Wire> origin;
};

} // namespace

TEST_CASE("a request that waits for its turn asks the store then, and holds its turn meanwhile") {
    Queued queued;
    Sharing& test = queued.test;
    SUBCASE("granted") {
        queued.pass_turn();
        test.deliver();
        queued.origin->read_head();
        CHECK(test.in_flight("turn") == 1);
        serve(*queued.origin, queued.second);
        test.check_charged(2);
    }
    SUBCASE("granted within the call") {
        test.store.script = {};
        serve(*queued.origin, queued.first);
        test.gateway.open();
        queued.origin->read_head();
        serve(*queued.origin, queued.second);
        test.check_charged(2);
    }
    SUBCASE("refused") {
        test.answer_late(true);
        queued.pass_turn();
        test.deliver();
        check_refused(read_answer(queued.second));
        test.check_charged(1);
    }
    SUBCASE("not answered") {
        queued.pass_turn();
        test.expire();
        CHECK(read_answer(queued.second).starts_with("HTTP/1.1 503 "));
        test.deliver();
        test.check_charged(1);
    }
    SUBCASE("its client goes while it waits for its turn") {
        queued.second.close();
        test.gateway.settle();
        CHECK(test.gateway.limit("turn").waiting() == 0);
        serve(*queued.origin, queued.first);
        test.check_charged(1);
        CHECK(test.gateway.ended(Outcome::client_gone, 0) == 1);
    }
    SUBCASE("its client goes while the store is asked") {
        queued.pass_turn();
        queued.second.close();
        test.gateway.settle();
        CHECK(test.in_flight("turn") == 0);
        test.deliver();
        test.check_charged(1);
        CHECK(test.gateway.ended(Outcome::client_gone, 0) == 1);
    }
    SUBCASE("a third one gets the turn that the store's refusal frees") {
        test.answer_late(true);
        queued.pass_turn();
        Wire third = test.gateway.connect();
        third.send(get_of("/turn"));
        test.gateway.settle();
        CHECK(test.gateway.limit("turn").waiting() == 1);
        test.answer();
        test.store.script = {};
        test.gateway.settle();
        check_refused(read_answer(queued.second));
        test.gateway.open();
        queued.origin->read_head();
        serve(*queued.origin, third);
        test.check_charged(2);
    }
}

namespace {

// Has the upstream ask for a pause. Returns its connection.
Wire pause(Sharing& test, Wire& client, std::string_view path) {
    test.store.script = {};
    client.send(get_of(path));
    Wire origin = test.accept("GET " + std::string{path} + " ");
    origin.send(asks_for_a_pause);
    CHECK(has(read_response(client), "503 No"));
    return origin;
}

void wait_for_question(Sharing& test) {
    test.gateway.run_until([&] { return test.store.unanswered() == 1; });
}

} // namespace

TEST_CASE("a request that has waited out a pause asks the store then") {
    Sharing test{patient};
    Wire client = test.gateway.connect();
    Wire origin = pause(test, client, "/pause");
    test.answer_late();
    client.send(get_of("/pause"));
    test.gateway.settle();
    REQUIRE(test.waits_for_pause() == 1);
    CHECK(test.store.unanswered() == 0); // it is not charged during a pause
    CHECK(test.used("own") == 1);
    SUBCASE("granted") {
        wait_for_question(test);
        test.deliver();
        origin.read_head();
        serve(origin, client);
        test.check_charged(2);
    }
    SUBCASE("refused") {
        test.answer_late(true);
        wait_for_question(test);
        test.deliver();
        check_refused(read_answer(client));
        test.check_charged(1);

        test.store.script = {}; // it has given its place as the first one after the pause back
        client.send(get_of("/pause"));
        origin.read_head();
        serve(origin, client);
        test.check_charged(2);
    }
    SUBCASE("its client goes while the store is asked") {
        wait_for_question(test);
        client.close();
        test.gateway.settle();
        test.deliver();
        test.check_charged(1);

        test.store.script = {};
        Wire other = test.gateway.connect();
        other.send(get_of("/pause"));
        origin.read_head();
        serve(origin, other);
        test.check_charged(2);
    }
}

TEST_CASE("what the store granted is given back if a pause began during the wait") {
    for (const std::string_view path : {"/pause", "/impatient", "/refusing"}) {
        CAPTURE(path);
        // Without a slot: two requests are under way.
        std::string config{yaml};
        for (std::size_t at = 0; (at = config.find("own, slot, all")) != std::string::npos;)
            config.replace(at, 14, "own, all");
        Sharing test{patient, config};
        Wire first = test.gateway.connect();
        first.send(get_of(path));
        Wire origin = test.accept("GET " + std::string{path} + " ");
        test.answer_late();
        Wire second = test.begin(get_of(path));
        CHECK(test.used("own") == 2);
        origin.send(asks_for_a_pause);
        CHECK(has(read_response(first), "503 No"));

        test.answer();
        const bool waits = path == "/pause";
        test.gateway.settle();

        CHECK(test.used("own") == 1);
        CHECK(test.stored() == 1);
        CHECK(origin.received().empty());
        if (!waits) {
            CHECK(has(read_answer(second), "503 "));
            test.check_charged(1);
            continue;
        }
        wait_for_question(test);
        CHECK(test.stored() == 2);
        test.deliver();
        origin.read_head();
        serve(origin, second);
        test.check_charged(2);
    }
}

TEST_CASE("a request may wait for the store, a pause, its turn, and the store again") {
    Sharing test{patient};
    Wire first = test.gateway.connect();
    first.send(get_of("/pause"));
    Wire origin = test.accept("GET /pause ");
    test.answer_late();
    Wire second = test.begin(get_of("/pause_turn"));
    origin.send(asks_for_a_pause);
    read_response(first);
    test.deliver();
    CHECK(test.waits_for_pause() == 1);
    CHECK(test.in_flight("turn") == 0);
    test.store.script = {};
    Wire third = test.gateway.connect();
    third.send(get_of("/turn")); // knows no pause
    origin.read_head();

    test.gateway.run_until([&] { return test.gateway.limit("turn").waiting() == 1; });
    CHECK(test.waits_for_pause() == 0);
    test.answer_late();
    serve(origin, third);
    test.gateway.open();
    CHECK(test.store.unanswered() == 1);
    CHECK(test.in_flight("turn") == 1);
    CHECK(origin.received().empty());
    test.deliver();

    CHECK(origin.read_head().starts_with("GET /pause_turn "));
    serve(origin, second);
    test.check_charged(3);
}

TEST_CASE("a client that goes during a pause that began during the wait leaves nothing behind") {
    std::string config{yaml};
    config.replace(config.find("max_cooldown: 20ms"), 18, "max_cooldown: 30m");
    config.replace(
        config.rfind("own, slot, all", config.find("max_cooldown: 30m")), 14, "own, all");
    Sharing test{patient, config};
    Wire first = test.gateway.connect();
    first.send(get_of("/pause"));
    Wire origin = test.accept("GET /pause ");
    test.answer_late();
    Wire second = test.begin(get_of("/pause"));
    origin.send(asks_for_a_pause);
    read_response(first);
    test.deliver();
    CHECK(test.waits_for_pause() == 1);

    second.close();

    test.check_charged(1);
    CHECK(test.gateway.ended(Outcome::client_gone, 0) == 1);
}

TEST_CASE("a request that goes to another endpoint is charged once") {
    for (const std::string_view path : {"/", "/open"})
        for (const bool refuses : {false, true}) {
            CAPTURE(path);
            CAPTURE(refuses);
            Sharing test{
                patient,
                InProcessGateway::TwoEndpoints{.settings = "retry: {on: [reset, connect]}"}};
            test.answer_late();
            if (refuses)
                test.gateway.upstream.close();
            Wire client = test.begin(get_of(path));
            test.deliver();
            if (!refuses)
                test.accept("GET " + std::string{path} + " ").close();
            Wire second = test.gateway.second.accept();
            CHECK(second.read_head().starts_with("GET "));
            CHECK(test.in_flight("slot") == (path == "/" ? 1 : 0));
            CHECK(test.store.unanswered() == 0);
            serve(second, client);
            CHECK(test.gateway.to_upstream().retries == (refuses ? 0 : 1));
            test.check_charged(1);
        }
}

TEST_CASE("a request that goes to a new connection as an idle one has ended is charged once") {
    Sharing test{patient};
    Wire client = test.gateway.connect();
    client.send(get_of("/free"));
    Wire origin = test.accept("GET /free ");
    serve(origin, client);
    test.answer_late();
    test.ask(client, get);
    SUBCASE("it ends after the request was sent") {
        test.deliver();
        origin.read_head();
        origin.close();
    }
    SUBCASE("it ends while the store is asked") {
        origin.close();
        test.deliver();
    }
    Wire again = test.accept();
    CHECK(test.in_flight("slot") == 1);
    serve(again, client);
    test.check_charged(1);
}

TEST_CASE("a request's slot is held while the store is asked, and is free after each end") {
    for (int how = 0; how < 5; ++how) {
        CAPTURE(how);
        Sharing test{patient};
        test.answer_late(how == 1, how == 2 ? Way::lost_after : Way::late);
        Wire client = test.begin(get);
        Wire other = test.gateway.connect();
        other.send(get);
        const std::string refusal = read_answer(other);
        CHECK(refusal.starts_with("HTTP/1.1 429 "));
        CHECK(has(refusal, R"("limit":"slot")"));
        CHECK(test.store.unanswered() == 1); // the other one did not ask it
        if (how == 3)
            test.expire();
        else if (how == 4)
            client.close();
        test.deliver();
        if (how == 0) {
            Wire origin = test.accept();
            serve(origin, client);
        }
        test.check_charged(how == 0 ? 1 : 0);

        test.store.script = {};
        other.send(get_of("/answer"));
        CHECK(other.read_head().starts_with("HTTP/1.1 204 "));
        test.check_charged(how == 0 ? 2 : 1);
    }
}

TEST_CASE("a request whose route responds itself asks the store before") {
    for (const bool refuse : {false, true}) {
        CAPTURE(refuse);
        Sharing test{patient};
        test.answer_late(refuse);
        Wire client = test.begin(get_of("/answer"));
        test.deliver();
        if (refuse)
            check_refused(read_answer(client));
        else
            CHECK(client.read_head().starts_with("HTTP/1.1 204 "));
        test.check_charged(refuse ? 0 : 1);
        client.close();
        test.check_quiet();
    }
}

namespace {

std::string make_body(std::size_t size) {
    std::string body(size, ' ');
    for (std::size_t i = 0; i < size; ++i)
        body[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
    return body;
}

std::string post_of(std::size_t size, std::string_view more = "") {
    return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n" +
           std::string{more} + "\r\n";
}

// Sends as much as goes; returns how much.
std::size_t send_what_goes(Sharing& test, Wire& client, std::string_view bytes) {
    std::size_t sent = 0;
    for (int idle = 0; idle < 3 && sent < bytes.size();) {
        const std::size_t size = client.send_some(bytes.substr(sent));
        idle = size > 0 ? 0 : idle + 1;
        sent += size;
        test.gateway.settle();
    }
    return sent;
}

} // namespace

TEST_CASE(
    "a body that still comes is not read while the store is asked, and forwarded whole then") {
    const std::string body = make_body(32 * 1024 * 1024);
    Sharing test{patient};
    test.answer_late();
    Wire client = test.gateway.connect_narrow();
    test.ask(client, post_of(body.size()) + body.substr(0, 5));
    std::size_t sent = 5 + send_what_goes(test, client, std::string_view{body}.substr(5));
    CHECK(sent < body.size());
    CHECK(send_what_goes(test, client, std::string_view{body}.substr(sent)) == 0);

    test.deliver();

    Wire origin = test.accept("POST / ");
    std::string arrived;
    test.gateway.run_until([&] {
        sent += client.send_some(std::string_view{body}.substr(sent));
        const std::size_t size = origin.received().size();
        arrived += origin.read(size);
        return arrived.size() >= body.size();
    });
    CHECK(arrived == body);
    serve(origin, client);
    test.check_charged(1);
    client.close();
    test.check_quiet();
}

TEST_CASE("a small body that comes in pieces around the store's answer is forwarded whole") {
    const std::string_view chunked =
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    struct Row {
        std::string before, meanwhile, after, expected;
    };
    const Row rows[] = {
        {post_of(9), "", "abcdefghi", "abcdefghi"},
        {post_of(9) + "abc", "def", "ghi", "abcdefghi"},
        {post_of(9) + "abc", "defghi", "", "abcdefghi"},
        {post_of(9) + "abcdefghi", "", "", "abcdefghi"},
        {std::string{chunked} + "3\r\nabc\r\n", "3\r\nde", "f\r\n0\r\n\r\n", "0\r\n\r\n"}};
    for (const bool warm : {false, true})
        for (const Row& row : rows) {
            CAPTURE(warm);
            CAPTURE(row.before);
            Sharing test{patient};
            Wire client = test.gateway.connect();
            std::optional<Wire> origin;
            if (warm) {
                client.send(get_of("/free"));
                origin.emplace(test.accept("GET /free "));
                serve(*origin, client);
                test.gateway.settle();
            }
            test.answer_late();
            test.ask(client, row.before);
            client.send(row.meanwhile);
            test.gateway.settle();
            CHECK_FALSE(test.was_sent());
            if (warm)
                CHECK(origin->received().empty());

            test.deliver();
            client.send(row.after);

            if (!warm)
                origin.emplace(test.gateway.upstream.accept());
            CHECK(origin->read_head().starts_with("POST / "));
            const std::string arrived = origin->read_until(row.expected);
            if (row.expected.starts_with("0")) {
                std::string payload = arrived;
                std::erase_if(payload, [](char c) { return c < 'a' || c > 'f'; });
                CHECK(payload == "abcdef");
            } else {
                CHECK(arrived == row.expected);
            }
            serve(*origin, client);
            test.check_charged(1);
            client.close();
            test.check_quiet();
        }
}

TEST_CASE("a client that waits for 100 gets it after the store's grant, and not with its refusal") {
    for (const bool refuse : {false, true}) {
        CAPTURE(refuse);
        Sharing test{patient};
        test.answer_late(refuse);
        Wire client = test.begin(post_of(5, "Expect: 100-continue\r\n"));
        test.deliver();
        if (refuse) {
            check_refused(read_answer(client));
            test.check_charged(0);
            continue;
        }
        Wire origin = test.gateway.upstream.accept();
        CHECK(origin.read_head().starts_with("POST / "));
        CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
        client.send("hello");
        CHECK(origin.read(5) == "hello");
        serve(origin, client);
        test.check_charged(1);
    }
}

TEST_CASE("a request that is refused while its body still comes leaves a usable connection") {
    Sharing test{patient};
    test.answer_late(true);
    Wire client = test.begin(post_of(9) + "abc");
    test.deliver();
    check_refused(read_answer(client));
    client.send("defghi");
    test.store.script = {};
    client.send(get);
    Wire origin = test.accept();
    serve(origin, client);
    test.check_charged(1);
}

TEST_CASE("a client that goes in the middle of its body during the wait leaves nothing behind") {
    for (const End how : {End::closes, End::resets, End::closes_sending_side}) {
        CAPTURE(static_cast<int>(how));
        Sharing test{patient};
        test.answer_late();
        Wire client = test.begin(post_of(9) + "abc");
        client.send("de");
        test.gateway.settle();
        end(client, how);
        test.gateway.settle();
        CHECK(test.in_flight("slot") == 0);
        test.deliver();
        test.check_charged(0);
        test.check_quiet();
        CHECK(test.gateway.ended(Outcome::client_gone, 0) == 1);
    }
}

TEST_CASE("requests pipelined behind one that waits for the store are answered in their order") {
    Sharing test{patient};
    test.answer_late();
    Wire client = test.gateway.connect();
    test.ask(client, get_of("/") + get_of("/free") + get_of("/answer") + get_of("/turn"));

    test.deliver();
    Wire origin = test.accept();
    CHECK(test.store.unanswered() == 0); // those behind it have their turn
    serve(origin, client);
    CHECK(origin.read_head().starts_with("GET /free "));
    serve(origin, client);
    test.gateway.settle();
    CHECK(test.store.unanswered() == 1);
    CHECK(client.received().empty());
    test.answer();
    test.answer_late(true);
    test.gateway.settle();
    CHECK(client.read_head().starts_with("HTTP/1.1 204 "));
    CHECK(test.store.unanswered() == 1);
    test.deliver();
    check_refused(read_answer(client));
    test.check_charged(2);
    client.close();
    test.check_quiet();
}

TEST_CASE("a client that goes with requests pipelined behind one that waits leaves nothing") {
    Sharing test{patient};
    test.answer_late();
    Wire client = test.gateway.connect();
    test.ask(client, get_of("/") + get_of("/answer") + get_of("/"));
    client.close();
    test.gateway.settle();
    test.deliver();
    test.check_quiet();
    test.check_charged(0);
    CHECK_FALSE(test.was_sent());
}

TEST_CASE("a request that waits for the store ends under the configuration it came with") {
    for (const bool refuse : {false, true})
        for (const bool same : {false, true}) {
            CAPTURE(refuse);
            CAPTURE(same);
            Sharing test{patient};
            test.answer_late(refuse);
            Wire client = test.begin(get);
            const limits::LimitPtr own = test.gateway.limit("own").weak_from_this().lock();
            const limits::LimitPtr slot = test.gateway.limit("slot").weak_from_this().lock();
            const limits::LimitPtr all = test.gateway.limit("all").weak_from_this().lock();

            test.gateway.reload(same ? yaml : plain);
            test.gateway.settle();
            CHECK(slot->in_flight() == 1);
            test.deliver();

            if (refuse) {
                check_refused(read_answer(client));
            } else {
                Wire origin = test.accept();
                CHECK(slot->in_flight() == 1);
                serve(origin, client);
            }
            test.gateway.settle();
            CHECK(slot->in_flight() == 0);
            CHECK(test.store.used_of_all(*all) == (refuse ? 0 : 1));
            CHECK(own->state_of({nullptr, {}, 99}, net::read_clocks()).used == (refuse ? 0 : 1));
            CHECK(test.store.charges.waiting() == 0);
            CHECK(test.store.wrong() == 0);
            client.close();
            test.gateway.run_until([&] { return test.gateway.context().connections.empty(); });
            CHECK(test.gateway.context().deadlines.empty());
        }
}

TEST_CASE("a client that goes after a reload, while the store is asked, leaves nothing behind") {
    Sharing test{patient};
    test.answer_late();
    Wire client = test.begin(get);
    const limits::LimitPtr all = test.gateway.limit("all").weak_from_this().lock();
    const limits::LimitPtr slot = test.gateway.limit("slot").weak_from_this().lock();
    test.gateway.reload(plain);
    client.close();
    test.gateway.settle();
    CHECK(slot->in_flight() == 0);
    test.deliver();
    CHECK(test.store.used_of_all(*all) == 0);
    CHECK(test.store.wrong() == 0);
}
