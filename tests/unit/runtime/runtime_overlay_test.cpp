#include "runtime/runtime_overlay.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>

using namespace stint;
using namespace stint::runtime;
using namespace std::chrono_literals;

namespace {

Now at(Duration since) {
    return {SteadyTime{1h} + since, WallTime{1000h} + since};
}

} // namespace

TEST_CASE("overrides of limits that have ended are dropped with one note a limit") {
    RuntimeOverlay overlay;
    REQUIRE(overlay.overrides().put("gone", {"a", {.quota = 1}, {}}));
    REQUIRE(overlay.overrides().put("gone", {"b", {.quota = 2}, {}}));
    REQUIRE(overlay.overrides().put("stays", {"a", {.quota = 3}, {}}));

    const auto notes = overlay.forget_overrides({"gone", "without overrides"});

    REQUIRE(notes.size() == 1);
    CHECK(notes[0] == "limit gone: its overrides that were set at run time have ended");
    CHECK(overlay.overrides().of("gone").empty());
    CHECK(overlay.overrides().of("stays").size() == 1);
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
    for (std::size_t i = 0; i <= RuntimeOverlay::most_ended_leases; ++i)
        overlay.note_ended({"jobs", std::to_string(i), at(1s).wall});

    const auto& ended = overlay.ended_leases();
    REQUIRE(ended.size() == RuntimeOverlay::most_ended_leases);
    CHECK(ended.front().lease == "1");
    CHECK(ended.back().lease == std::to_string(RuntimeOverlay::most_ended_leases));
}
