#include "net/linger.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace std::chrono_literals;
using net::Linger;

namespace {

constexpr SteadyTime start{1h};

} // namespace

TEST_CASE("a peer that is answered early may send for 30 s, and no longer") {
    Linger linger{start};
    for (Duration at = 0s; at < 30s; at += 1s)
        REQUIRE(linger.take(1000, start + at) == Linger::Next::read);
    CHECK(linger.take(1000, start + 30s) == Linger::Next::close);
}

TEST_CASE("one that was not let in may send for a second") {
    Linger linger{start};
    CHECK(linger.take(1000, start + 999ms, Linger::brief) == Linger::Next::read);
    CHECK(linger.take(1000, start + 1s, Linger::brief) == Linger::Next::close);
}

TEST_CASE("what is dropped is no more than 1 MiB an interval") {
    constexpr std::size_t piece = 64 * 1024;
    Linger linger{start};
    SteadyTime now = start;
    std::size_t dropped = 0;
    for (auto next = Linger::Next::read; next != Linger::Next::close; dropped += piece) {
        now += next == Linger::Next::pause ? Linger::interval : Duration{1us};
        next = linger.take(piece, now);
    }
    CHECK(now - start >= 30s);
    const auto intervals = static_cast<std::size_t>((now - start) / Linger::interval);
    CHECK(dropped <= (intervals + 1) * Linger::most_at_once);
    CHECK(dropped >= intervals * Linger::most_at_once / 2);
}

TEST_CASE("who sends slowly is never held up") {
    Linger linger{start};
    for (Duration at = 0s; at < 30s; at += Linger::interval)
        REQUIRE(linger.take(Linger::most_at_once - 1, start + at) == Linger::Next::read);
}
