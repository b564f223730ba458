// When a gateway asks the store for more, and whom it tells what.
#include "fixture.hpp"

using namespace stint;
using namespace stint::shared;
using namespace stint::shared::test;

namespace {

std::string name_of(int other) {
    std::string name = std::to_string(other);
    name.insert(name.begin(), 'o');
    return name;
}

} // namespace

TEST_CASE("a want asks the store for a little, and is told when the share has grown") {
    Gateway gateway;
    CHECK(gateway.want() == Wanted::failed); // no session yet
    gateway.join();
    CHECK(gateway.request().ask_store == 1);
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.wants() == "1"); // an eighth of 10
    CHECK(gateway.syncs() == 1);
    CHECK(gateway.log.empty());
    gateway.answer(gateway.sync_reply(4, 4));
    CHECK(gateway.log == "answered c; ");
    CHECK(gateway.client.share("c") == 4);
    CHECK(gateway.request().allowed());
}

TEST_CASE("wants that come while others go on ask for all there is, and are told together") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.want() == Wanted::asked); // while the call is on its way
    CHECK(gateway.syncs() == 1);
    gateway.answer(gateway.sync_reply(1, 1));
    CHECK(gateway.log.empty());
    CHECK(gateway.syncs() == 2);
    CHECK(gateway.wants() == "10");
    gateway.answer(gateway.sync_reply(4, 4));
    CHECK(gateway.log == "answered c; ");
    CHECK(gateway.client.share("c") == 4);
}

TEST_CASE("once the store has said that there is no more, requests do not ask it for a while") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(0, 5));
    limits::Decision refused = gateway.request();
    CHECK_FALSE(refused.allowed());
    CHECK(refused.lacks_share == 1);
    CHECK(refused.ask_store == 0);
    CHECK(gateway.want() == Wanted::told);
    gateway.pass(63ms); // per / 16
    CHECK(gateway.request().ask_store == 1);
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(0, 5));
    gateway.pass(63ms); // now twice as long
    CHECK(gateway.request().ask_store == 0);
    gateway.pass(63ms);
    CHECK(gateway.request().ask_store == 1);
}

TEST_CASE("demand goes on while requests are refused without asking, and ends with them") {
    Gateway gateway;
    gateway.join();
    while (gateway.want() == Wanted::asked) { // until the store is asked once a second
        gateway.answer(gateway.sync_reply(0, 5));
        for (int i = 0; i < 10 && gateway.request().ask_store == 0; ++i) {
            gateway.run(100ms);
            gateway.answer_beats();
        }
        if (gateway.syncs() > 8)
            break;
    }
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(0, 5));
    const std::size_t before = gateway.syncs();
    for (int i = 0; i < 9; ++i) {
        gateway.run(100ms);
        gateway.answer_beats();
        CHECK(gateway.request().ask_store == 0);
    }
    CHECK(gateway.syncs() == before); // it wants no less
    gateway.run(600ms);
    gateway.answer_beats();
    CHECK(gateway.syncs() == before + 1); // nobody has been refused any more
    CHECK(gateway.wants() == "1");
    gateway.answer(gateway.sync_reply(0, 5));
    CHECK(gateway.request().ask_store == 1); // a new demand asks at once
}

TEST_CASE("requests that are refused at the end of each fixed window are one demand") {
    Gateway gateway;
    gateway.limit = Gateway::make_limit(limits::Algorithm::fixed_window, 200ms);
    gateway.join();
    const auto ask_for = [&](Duration time) { // 20 requests a window, of which 5 are admitted
        std::size_t wants = 0;
        for (const SteadyTime end = gateway.now.steady + time; gateway.now.steady < end;) {
            if (gateway.request().ask_store != 0 && gateway.want() == Wanted::asked) {
                ++wants;
                Reply reply = gateway.sync_reply(5, 5);
                reply[5] = std::int64_t{1}; // others lack some, too
                gateway.answer(reply);
            }
            gateway.run(10ms);
            gateway.answer_beats();
        }
        return wants;
    };
    CHECK(ask_for(4s) > 0);
    const std::size_t before = gateway.syncs();
    CHECK(ask_for(4s) <= 4); // once a second, however many windows there are
    CHECK(gateway.syncs() <= before + 4);
}

TEST_CASE("requests that wait ask by their gateway, and keep up demand") {
    Gateway gateway;
    gateway.join();
    gateway.limit->add_waiting(1);
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(0, 5));
    std::size_t answered = 1;
    for (int i = 0; i < 1000; ++i) { // for 10 s, with nobody but the one that waits
        gateway.run(10ms);
        gateway.answer_beats();
        if (gateway.syncs() == answered)
            continue;
        CHECK(gateway.wants() == "10");
        gateway.run(200ms); // the store is slow
        gateway.answer(gateway.sync_reply(0, 5));
        ++answered;
    }
    CHECK(answered > 9); // at first soon, then once a second
    CHECK(answered < 20);
    gateway.limit->add_waiting(-1);
    gateway.run(1100ms);
    CHECK(gateway.wants() == "1");
}

TEST_CASE("a want that comes while another call is on its way is asked by the next one") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(4, 4));
    gateway.log.clear();
    gateway.run(600ms); // demand is over: the store is told so
    gateway.answer_beats();
    REQUIRE(gateway.syncs() == 2);
    CHECK(gateway.client.share("c") == 4);
    const std::uint64_t less = gateway.last("sync").number;
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.syncs() == 2);
    gateway.client.answered(less, gateway.sync_reply(4, 4), gateway.now);
    CHECK(gateway.log.empty());
    CHECK(gateway.syncs() == 3);
    CHECK(gateway.wants() == "1");
    gateway.answer(gateway.sync_reply(9, 9));
    CHECK(gateway.log == "answered c; ");
}

TEST_CASE("a want that comes when many calls are on their way is asked after them") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(4, 4));
    gateway.log.clear();
    for (int i = 0; i < 300; ++i) {
        SharedCounter other = gateway.counter();
        other.limit = Gateway::make_limit();
        CHECK(gateway.client.want(name_of(i), other, 1, gateway.now) == Wanted::asked);
    }
    CHECK(gateway.syncs() == 1 + 256);
    CHECK(gateway.want() == Wanted::asked);
    gateway.client.tick(gateway.now);
    CHECK(gateway.syncs() == 1 + 256);
    for (const Call& each : std::vector<Call>{gateway.calls})
        if (each.arguments[0] == "sync")
            gateway.client.answered(each.number, gateway.sync_reply(4, 4), gateway.now);
    gateway.client.tick(gateway.now);
    CHECK(gateway.syncs() == 1 + 300 + 1);
    const auto asks =
        std::find_if(gateway.calls.rbegin(), gateway.calls.rend(), [](const Call& each) {
            return each.counter == "c";
        });
    CHECK(asks->arguments.at(9) == "10");
    CHECK(gateway.log.find("answered c; ") == std::string::npos);
    const std::uint64_t number = asks->number;
    gateway.client.answered(number, gateway.sync_reply(4, 4), gateway.now);
    CHECK(gateway.log.find("answered c; ") != std::string::npos);
}

TEST_CASE("a want that is not asked yet fails with the session") {
    Gateway gateway;
    gateway.join();
    gateway.pass(500ms);
    for (int i = 0; i < 256; ++i)
        (void)gateway.client.want(name_of(i), gateway.counter(), 1, gateway.now);
    CHECK(gateway.want() == Wanted::asked);
    CHECK(gateway.syncs() == 256);
    SUBCASE("of another process") {
        gateway.pass(500ms);
        gateway.client.tick(gateway.now);
        gateway.answer("beat", gateway.beat_reply("taken"));
        CHECK(gateway.log.empty());
        gateway.pass(500ms);
        gateway.client.tick(gateway.now); // calls are given up
        CHECK(gateway.syncs() == 256);
    }
    SUBCASE("that ends") {
        gateway.client.drop_shares(gateway.now);
    }
    CHECK(gateway.log.find("failed c; ") != std::string::npos);
    CHECK(gateway.log.find("failed o255; ") != std::string::npos);
}

TEST_CASE("a call that fails, or whose answer says nothing, fails its wants, and the next wait") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.client.failed(gateway.last("sync").number, gateway.now);
    CHECK(gateway.log == "failed c; ");
    CHECK(gateway.want() == Wanted::failed);
    gateway.pass(63ms);
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer({std::string{"epoch"}, std::int64_t{1000}, std::string{"2-2"}});
    CHECK(gateway.log == "failed c; failed c; ");
    gateway.pass(63ms);
    CHECK(gateway.want() == Wanted::failed); // twice as long
    gateway.pass(63ms);
    CHECK(gateway.want() == Wanted::asked);
    gateway.pass(1s);
    gateway.client.tick(gateway.now); // the call is given up
    CHECK(gateway.log == "failed c; failed c; failed c; ");
}

TEST_CASE("a share that nobody asks for is looked at less and less, and given back in the end") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(10, 10));
    CHECK(gateway.request().allowed());
    gateway.run(600ms); // the store is told of less demand
    gateway.answer(gateway.sync_reply(10, 10));
    const int before = gateway.ticks;
    gateway.run(6s);                    // 1 s in which the use counts, then 5 s
    CHECK(gateway.ticks - before < 25); // with the beats, one each second
    CHECK(gateway.hold() == "0");
    CHECK(gateway.wants() == "0");
    CHECK(gateway.client.share("c") == 0);
    gateway.answer(gateway.sync_reply(0, 0));
    CHECK(gateway.client.counters() == 0);
}

TEST_CASE("a store that gives nothing yet has not said that there is no more") {
    Gateway gateway;
    gateway.join();
    Reply silent = gateway.sync_reply(0, 5);
    silent[10] = std::int64_t{0};
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(silent);
    CHECK(gateway.log == "failed c; ");
    CHECK(gateway.request().ask_store == 1); // each request hears it from the store's client
    CHECK(gateway.want() == Wanted::failed);
    gateway.pass(63ms);
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(3, 5));
    CHECK(gateway.log == "failed c; answered c; ");
    CHECK(gateway.request().allowed());
}

TEST_CASE("the numbers of a counter's calls go on rising after it was forgotten") {
    Gateway gateway;
    gateway.join();
    const auto number = [&] { return std::stoi(gateway.last("sync").arguments.at(7)); };
    CHECK(gateway.want() == Wanted::asked);
    const int first = number();
    gateway.answer(gateway.sync_reply(0, 0));
    gateway.run(6s); // idle
    CHECK(gateway.wants() == "0");
    gateway.answer(gateway.sync_reply(0, 0));
    CHECK(gateway.client.counters() == 0);
    CHECK(gateway.want() == Wanted::asked);
    CHECK(number() > first + 1);
}

TEST_CASE("a counter that the store knows a want of is forgotten only when it knows of none") {
    Gateway gateway;
    gateway.join();
    CHECK(gateway.want() == Wanted::asked);
    gateway.answer(gateway.sync_reply(0, 5));
    for (int i = 0; i < 40 && gateway.wants() != "0"; ++i) {
        gateway.run(500ms);
        gateway.answer_beats();
        gateway.answer(gateway.sync_reply(0, 5));
        CHECK(gateway.client.counters() == (gateway.wants() == "0" ? 0 : 1));
    }
    CHECK(gateway.wants() == "0");
    CHECK(gateway.client.counters() == 0);
}

TEST_CASE("a limit's other number is proposed by the next look, and once") {
    Gateway gateway;
    gateway.join();
    const auto proposes = [&] {
        const auto& arguments = gateway.last("sync").arguments;
        return arguments.at(10) + (arguments.at(11) == "1" ? " proposed" : "");
    };
    CHECK(gateway.want() == Wanted::asked);
    CHECK(proposes() == "10 proposed");
    gateway.answer(gateway.sync_reply(10, 10));
    gateway.run(100ms);
    const std::size_t before = gateway.syncs();

    limits::Charge lower;
    lower.limit = gateway.limit.get();
    lower.quota = 6;
    CHECK(limits::admit({&lower, 1}, gateway.now).allowed());
    for (int i = 0; i < 100 && gateway.syncs() == before; ++i)
        gateway.run(50ms);
    CHECK(gateway.syncs() == before + 1);
    CHECK(proposes() == "6 proposed");
    Reply taken = gateway.sync_reply(10, 6);
    taken[7] = std::int64_t{6};
    gateway.answer(taken);
    CHECK(limits::admit({&lower, 1}, gateway.now).allowed());
    gateway.run(100ms);
    CHECK(gateway.syncs() == before + 1);
}

TEST_CASE("an operator's word is told once more in an epoch that had begun before it") {
    Gateway gateway;
    gateway.join();
    REQUIRE(gateway.client.trust(gateway.now));
    gateway.answer("trust", {std::string{"epoch"}, std::int64_t{1000}, std::string{"2-1"}});
    CHECK(gateway.log == "");
    CHECK(gateway.count("trust") == 1);
    gateway.run(1s);
    Reply next = gateway.beat_reply();
    next.at(2) = std::string{"2-1"};
    gateway.answer("beat", next);
    REQUIRE(gateway.count("trust") == 2);
    CHECK(gateway.last("trust").arguments.at(3) == "2-1");

    SUBCASE("which takes it") {
        gateway.answer("trust", {std::string{"ok"}, std::int64_t{1000}, std::string{"2-1"}});
        CHECK(gateway.log == "trusted; ");
    }
    SUBCASE("but not in one that begins after it") {
        gateway.answer("trust", {std::string{"epoch"}, std::int64_t{1000}, std::string{"3-1"}});
        CHECK(gateway.log == "not trusted; ");
    }
    gateway.run(2s);
    gateway.answer_beats();
    CHECK(gateway.count("trust") == 2);
}

TEST_CASE("an operator's word that the store does not get is not told later") {
    Gateway gateway;
    gateway.join();
    REQUIRE(gateway.client.trust(gateway.now));
    gateway.client.failed(gateway.last("trust").number, gateway.now);
    CHECK(gateway.log == "not trusted; ");
    gateway.run(2s);
    gateway.answer_beats();
    CHECK(gateway.count("trust") == 1);
}

TEST_CASE("an operator's word ends with the session that was to tell it") {
    Gateway gateway;
    gateway.join();
    REQUIRE(gateway.client.trust(gateway.now));
    gateway.answer("trust", {std::string{"epoch"}, std::int64_t{1000}, std::string{"2-1"}});
    gateway.client.begin(
        {.gateway = "gw", .session = "t", .time_to_live = 30s, .timeout = 1s}, gateway.now);
    CHECK(gateway.log == "not trusted; ");
    gateway.join();
    CHECK(gateway.count("trust") == 1);
}

// More than the units that a bucket is divided into, and less than it holds.
TEST_CASE("a want of more tokens than a bucket gains in its time is asked for") {
    Gateway gateway;
    gateway.join();
    limits::LimitSpec spec;
    spec.identity = {
        .name = "tokens", .key = {}, .algorithm = limits::Algorithm::token_bucket, .per = 1s};
    spec.quota = 10;
    const SharedCounter bucket{
        .limit = std::make_shared<limits::Limit>(spec), .numbers = {10, 1000}};
    const auto want = [&](std::uint64_t cost) {
        return gateway.client.want("b", bucket, cost, gateway.now);
    };
    CHECK(want(1001) == Wanted::told); // never admitted
    CHECK(want(1000) == Wanted::asked);
    CHECK(gateway.wants() == "10");
    gateway.answer(gateway.sync_reply(2, 5));
    CHECK(want(300) == Wanted::asked); // others may have the rest
}
