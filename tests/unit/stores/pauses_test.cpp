// Pauses that gateways share, on the test's own time and on a real server.
#include "fixture.hpp"
#include "limits/cooldown/cooldown_set.hpp"
#include "stores/pause_teller.hpp"
#include "stores/shared_pauses.hpp"

#include <vector>

using namespace stint;
using namespace stint::stores;
using namespace stint::stores::test;

namespace {

using limits::Cooldown;
using limits::CooldownPtr;
using Phase = limits::CooldownState::Phase;

constexpr limits::CooldownRules pause_rules{
    .most = 10min, .otherwise = std::nullopt, .ramp = 10s, .learn = false};

SteadyTime second(int count) {
    return SteadyTime{1000s} + std::chrono::seconds{count};
}

Hash128 name_of(std::uint64_t number) {
    return {0xfedc'ba98'7654'3210, number};
}

// A gateway whose calls the test answers.
struct Teller : shared::Transport {
    explicit Teller(bool beaten = true) {
        if (beaten)
            beat();
    }
    // The session's beat is answered, in this epoch of the store.
    void beat(const std::string& epoch = "1-1") {
        const SteadyTime now = second(0);
        (void)session.beat(true, {now, {}});
        (void)session.answered(
            {std::string{"ok"}, std::int64_t{1}, epoch, std::string{"a"}, std::int64_t{1},
             std::int64_t{1}, std::int64_t{0}, std::string{"me:gw"}},
            now, now);
    }
    void send(shared::Call call) override { calls.push_back(std::move(call)); }
    void go_on(SteadyTime now) { teller.go_on(session, now); }
    [[nodiscard]] std::string operation() const { return calls.back().arguments.at(0); }
    void answer(SteadyTime now, const std::string& list = {}) {
        teller.answered({std::string{"ok"}, std::int64_t{1}, std::string{"1-1"}, list}, now);
    }

    SharedPauses pauses;
    std::vector<shared::Call> calls;
    shared::Session session{{.gateway = "gw", .session = "me"}};
    PauseTeller teller{"{stint}:p", pauses, *this};
};

// A gateway's cool-downs at a store.
struct Pausing {
    explicit Pausing(const RedisProcess& server, const std::string& name)
        : store{std::make_shared<Store>(settings(server, name))} {
        set.share_by(store, net::read_steady_clock());
        store->start();
    }
    ~Pausing() {
        store->stop();
        set.share_by(nullptr, {});
    }
    [[nodiscard]] CooldownPtr of(const std::string& text) {
        return set.of(hasher(text), text, net::read_steady_clock());
    }
    void pause(const std::string& text, Duration length) {
        (void)of(text)->told({429, length}, net::read_steady_clock(), pause_rules);
    }
    [[nodiscard]] limits::CooldownState state(const std::string& text) {
        return of(text)->state(net::read_steady_clock());
    }
    void await_pause(const std::string& text) {
        await([&] { return state(text).phase == Phase::paused; }, "there is no pause");
    }

    const KeyHasher hasher; // of its own, as each process has
    const std::shared_ptr<Store> store;
    limits::CooldownSet set{{"upstream:shop", "host"}};
};

} // namespace

TEST_CASE("a cool-down learns of a pause under way when it joins, and of later ones") {
    SharedPauses pauses;
    const auto early = std::make_shared<Cooldown>("early");
    const auto late = std::make_shared<Cooldown>("late");
    pauses.join(name_of(1), early, second(0));
    CHECK(pauses.learn(std::vector{PauseTold{name_of(1), 5s, 503}}, second(0)) == 1);
    CHECK(early->state(second(1)).phase == Phase::paused);
    CHECK(early->state(second(1)).elsewhere);
    CHECK(early->state(second(1)).status == 503);
    CHECK(early->state(second(1)).left == 4s);

    pauses.join(name_of(1), late, second(2));
    CHECK(late->state(second(2)).left == 3s);
    const auto other = std::make_shared<Cooldown>("other");
    pauses.join(name_of(2), other, second(2));
    CHECK(other->state(second(2)).phase == Phase::open);
    CHECK(pauses.under_way(second(4)) == 1);
    CHECK(pauses.under_way(second(5)) == 0);

    // A pause that is told again, or for a shorter time, is no news. Nor is one that is over.
    CHECK(pauses.learn(std::vector{PauseTold{name_of(1), 3s + 50ms, 503}}, second(2)) == 0);
    CHECK(pauses.learn(std::vector{PauseTold{name_of(1), 1s, 503}}, second(2)) == 0);
    CHECK(pauses.learn(std::vector{PauseTold{name_of(3), 0s, 503}}, second(2)) == 0);
    CHECK(pauses.learn(std::vector{PauseTold{name_of(1), 50ms, 503}}, second(6)) == 1);
}

TEST_CASE("each gateway sends a probe of its own after a pause that it has learnt") {
    const auto cooldown = std::make_shared<Cooldown>("shop");
    auto before = Cooldown::enter(cooldown, second(0), pause_rules);
    cooldown->learn({429, second(5)}, second(1));
    CHECK_FALSE(before.pass.still_good()); // admitted before, not sent yet
    CHECK(Cooldown::enter(cooldown, second(4), pause_rules).refused.wait == 1s);
    auto probe = Cooldown::enter(cooldown, second(5), pause_rules);
    REQUIRE(probe.pass);
    CHECK(probe.pass.is_probe());
    CHECK_FALSE(Cooldown::enter(cooldown, second(5), pause_rules).pass);
    cooldown->learn({429, second(9)}, second(5)); // another gateway's probe was refused
    CHECK(cooldown->state(second(6)).left == 3s);
    CHECK(cooldown->state(second(6)).pauses == 2);
    cooldown->learn({429, second(7)}, second(6)); // shorter
    CHECK(cooldown->state(second(6)).left == 3s);
}

TEST_CASE("pauses are read and told when the store is up, and told as they begin") {
    Teller gateway;
    CHECK(gateway.pauses.tell(name_of(1), {429, second(10)}, second(0)));
    CHECK_FALSE(gateway.pauses.tell(name_of(2), {503, second(20)}, second(0)));
    gateway.go_on(second(1));
    REQUIRE(gateway.calls.size() == 1);
    CHECK(gateway.operation() == "pauses");
    CHECK(PauseTeller::owns(gateway.calls.back().number));
    CHECK(gateway.calls.back().counter == "{stint}:p");
    gateway.go_on(second(1));
    CHECK(gateway.calls.size() == 1); // one at a time
    gateway.answer(second(1), "fedcba98765432100000000000000007:4000:503 nonsense");
    CHECK(gateway.teller.learnt() == 1);
    CHECK(gateway.pauses.under_way(second(4)) == 3);

    gateway.go_on(second(2));
    REQUIRE(gateway.operation() == "pause");
    // Not the learnt one.
    CHECK(
        gateway.calls.back().arguments.back() ==
        "fedcba98765432100000000000000001:8000:429 fedcba98765432100000000000000002:18000:503");
    gateway.answer(second(2));
    gateway.go_on(second(2));
    CHECK(gateway.calls.size() == 2);
    CHECK(gateway.pauses.tell(name_of(1), {429, second(30)}, second(3)));
    gateway.go_on(second(3));
    CHECK(gateway.calls.back().arguments.back() == "fedcba98765432100000000000000001:27000:429");
    CHECK(gateway.pauses.tell(name_of(1), {429, second(29)}, second(3)) == false); // shorter
}

TEST_CASE("a pause that is under way when gateways begin to share it is told") {
    struct Exchange final : limits::PauseExchange {
        Hash128
        join(const limits::CooldownIdentity&, const Hash128&, const CooldownPtr&, SteadyTime)
            override {
            return name_of(1);
        }
        void tell(const Hash128& name, const limits::SharedPause& pause) noexcept override {
            told.push_back({name, pause.end - second(0), pause.status});
        }
        std::vector<PauseTold> told;
    };
    const auto exchange = std::make_shared<Exchange>();
    const auto cooldown = std::make_shared<Cooldown>("shop");
    cooldown->share_by(exchange, name_of(1));
    CHECK(exchange->told.empty());
    cooldown->share_by(nullptr, {});
    (void)cooldown->told({503, 8s}, second(0), pause_rules);
    cooldown->share_by(exchange, name_of(1));
    CHECK(exchange->told == std::vector{PauseTold{name_of(1), 8s, 503}});
}

TEST_CASE("a gateway's first call is a beat: no pause is read or told before it is answered") {
    Teller gateway{false};
    CHECK(gateway.pauses.tell(name_of(1), {429, second(10)}, second(0)));
    gateway.teller.read_again();
    gateway.go_on(second(0));
    CHECK(gateway.calls.empty());
    gateway.beat();
    gateway.go_on(second(0));
    CHECK(gateway.operation() == "pauses");
}

TEST_CASE("a new connection reads, a new epoch also tells all again, what was learnt as well") {
    Teller gateway;
    gateway.go_on(second(0));
    gateway.answer(second(0), "fedcba98765432100000000000000007:9000:503");
    gateway.teller.read_again();
    gateway.go_on(second(1));
    CHECK(gateway.operation() == "pauses");
    gateway.answer(second(1), "fedcba98765432100000000000000007:8000:503");
    gateway.go_on(second(1));
    CHECK(gateway.calls.size() == 2); // what is told on grows by its way each time
    gateway.beat("2-1");
    gateway.go_on(second(2));
    gateway.answer(second(2));
    gateway.go_on(second(2));
    CHECK(gateway.calls.back().arguments.back() == "fedcba98765432100000000000000007:7000:503");
}

TEST_CASE("what the store has not heard is told again after a while") {
    Teller gateway;
    gateway.go_on(second(0)); // reads: the epoch is new
    gateway.teller.failed(second(0));
    gateway.go_on(second(0));
    CHECK(gateway.calls.size() == 1);
    gateway.go_on(second(1));
    CHECK(gateway.operation() == "pauses");
    gateway.answer(second(1));
    CHECK(gateway.pauses.tell(name_of(1), {429, second(10)}, second(1)));
    gateway.go_on(second(1));
    gateway.teller.failed(second(1));
    gateway.go_on(second(2));
    CHECK(gateway.calls.size() == 4);
    CHECK(gateway.calls.back().arguments.back() == "fedcba98765432100000000000000001:8000:429");
    gateway.teller.failed(second(2));
    gateway.go_on(second(11)); // over
    CHECK(gateway.calls.size() == 4);
}

TEST_CASE("messages of pauses are told from others, and nonsense is none") {
    Teller gateway;
    CHECK_FALSE(gateway.teller.take("other {stint}:c:1", "me", second(0)));
    CHECK(
        gateway.teller.take("pause me fedcba98765432100000000000000001:9000:429", "me", second(0)));
    CHECK(gateway.pauses.under_way(second(0)) == 0); // its own
    const auto take = [&](const std::string& list) {
        CHECK(gateway.teller.take("pause other " + list, "me", second(0)));
        return gateway.pauses.under_way(second(0));
    };
    for (const char* const wrong :
         {"", " ", "fedcba98765432100000000000000001", "fedcba98765432100000000000000001:9000",
          "fedcba98765432100000000000000001:9000:200", "fedcba98765432100000000000000001:-1:429",
          "fedcba9876543210000000000000000g:9000:429", "1:9000:429",
          "fedcba98765432100000000000000001:99999999999999:429"})
        CHECK(take(wrong) == 0);
    CHECK(
        take("fedcba98765432100000000000000001:9000:429 fedcba98765432100000000000000002:1:503") ==
        2);
}

TEST_CASE("pauses beyond the most are those of one gateway") {
    SharedPauses pauses;
    for (std::uint64_t i = 0; i < SharedPauses::most; ++i)
        (void)pauses.tell(name_of(i), {429, second(10)}, second(0));
    CHECK(pauses.unshared() == 0);
    CHECK_FALSE(pauses.tell(name_of(SharedPauses::most), {429, second(10)}, second(0)));
    CHECK(pauses.unshared() == 1);
    CHECK(
        pauses.learn(std::vector{PauseTold{name_of(SharedPauses::most), 5s, 429}}, second(1)) == 0);
    CHECK(pauses.under_way(second(1)) == SharedPauses::most);
    CHECK(pauses.take_untold(10, second(1)).size() == 10);
    (void)pauses.tell(name_of(SharedPauses::most), {429, second(20)}, second(10));
    CHECK(pauses.under_way(second(10)) == 1); // the others are over
}

TEST_CASE("one gateway's pause is all gateways', and outlives a store that forgets") {
    if (no_server())
        return;
    RedisProcess server;
    Pausing first{server, "a"};
    Pausing second{server, "b"};
    await([&] { return first.store->state().up && second.store->state().up; }, "not up");
    (void)second.of("shop"); // known there already
    first.pause("shop", 60s);
    CHECK_FALSE(first.state("shop").elsewhere);
    second.await_pause("shop");
    CHECK(second.state("shop").elsewhere);
    CHECK(second.state("shop").left <= 60s);
    CHECK(second.state("shop").left > 50s);
    CHECK(second.state("other").phase == Phase::open);

    Pausing late{server, "c"}; // reads what is under way
    late.await_pause("shop");
    const std::string keys = ask(server, "--raw keys '*:p'");
    CHECK(keys == "{test}:p\n");
    CHECK_FALSE(contains(ask(server, "--raw hgetall {test}:p"), "shop"));
    CHECK(std::stoi(ask(server, "--raw ttl {test}:p")) > 0);

    (void)ask(server, "flushall");
    await([&] { return contains(ask(server, "exists {test}:p"), "1"); }, "it is not told again");
    server.kill();
    await([&] { return !first.store->state().up && !second.store->state().up; }, "still up");
    first.pause("gone", 60s);
    CHECK(first.state("gone").phase == Phase::paused); // never waits for the store
    server.start();
    second.await_pause("gone");
    late.await_pause("gone");
    Pausing later{server, "d"};
    later.await_pause("shop");
    later.await_pause("gone");
}
