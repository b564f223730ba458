#include "runtime/runtime_overlay.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <iterator>
#include <memory>
#include <string>

using namespace stint;
using namespace stint::runtime;
using namespace std::chrono_literals;

namespace {

Now at(Duration since) {
    return {SteadyTime{1h} + since, WallTime{1000h} + since};
}

} // namespace

TEST_CASE("changes of limits that have ended are dropped with one note a limit") {
    using Kind = LimitChange::Kind;
    RuntimeOverlay overlay;
    REQUIRE(overlay.limits().put({.target = {"gone", Kind::numbers, "a"}, .numbers = {1, 0}}));
    REQUIRE(overlay.limits().put({.target = {"gone", Kind::block_key, "b"}}));
    REQUIRE(overlay.limits().put({.target = {"stays", Kind::numbers, "a"}, .numbers = {3, 0}}));

    const auto notes = overlay.forget_limits({"gone", "without changes"});

    REQUIRE(notes.size() == 1);
    CHECK(notes[0] == "limit gone: the changes that were made at run time have ended");
    CHECK(overlay.limits().all().size() == 1);
}

TEST_CASE("a drained endpoint is listed since its first drain until it is enabled") {
    RuntimeOverlay overlay;
    const auto state = std::make_shared<upstream::EndpointState>("10.0.0.1:80");
    overlay.drain("up", state, at(1s));
    overlay.drain("up", state, at(2s));

    REQUIRE(overlay.drained().size() == 1);
    CHECK(overlay.drained()[0].upstream == "up");
    CHECK(overlay.drained()[0].endpoint == "10.0.0.1:80");
    CHECK(overlay.drained()[0].since == at(1s).wall);
    CHECK(state->drained());

    overlay.enable("up", state, at(3s));
    CHECK(overlay.drained().empty());
    CHECK_FALSE(state->drained());
}

TEST_CASE("a drained endpoint is forgotten with its state, a new one of its name is not drained") {
    RuntimeOverlay overlay;
    auto state = std::make_shared<upstream::EndpointState>("a:80");
    overlay.drain("up", state, at(1s));
    state = std::make_shared<upstream::EndpointState>("a:80");
    CHECK(overlay.drained().empty());

    overlay.drain("up", state, at(5s));
    REQUIRE(overlay.drained().size() == 1);
    CHECK(overlay.drained()[0].since == at(5s).wall);
}

TEST_CASE("the last ended leases are kept, the newest last") {
    RuntimeOverlay overlay;
    constexpr std::size_t most = Recent<EndedLease>::most;
    for (std::size_t i = 0; i <= most; ++i)
        overlay.ended_leases().add({"jobs", std::to_string(i), at(1s).wall});

    const auto& ended = overlay.ended_leases();
    REQUIRE(ended.size() == most);
    CHECK(ended.begin()->lease == "1");
    CHECK(std::prev(ended.end())->lease == std::to_string(most));
}
