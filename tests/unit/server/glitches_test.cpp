#include "server/glitches.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace stint;
using namespace std::chrono_literals;
using server::Glitches;

namespace {

constexpr SteadyTime begin{1h};

Glitches::Verdict add(Glitches& glitches, int count, SteadyTime now) {
    Glitches::Verdict verdict = Glitches::Verdict::fine;
    for (int i = 0; i < count; ++i)
        verdict = glitches.add(now);
    return verdict;
}

} // namespace

TEST_CASE("three quarters of the glitches end the connection softly, all of them at once") {
    Glitches glitches{100};
    CHECK(add(glitches, 74, begin) == Glitches::Verdict::fine);
    CHECK(add(glitches, 1, begin) == Glitches::Verdict::go_away);
    CHECK(add(glitches, 24, begin) == Glitches::Verdict::go_away);
    CHECK(add(glitches, 1, begin) == Glitches::Verdict::close);
}

TEST_CASE("a tenth of the glitches is forgotten each second") {
    Glitches glitches{100};
    CHECK(add(glitches, 70, begin) == Glitches::Verdict::fine);
    CHECK(add(glitches, 14, begin + 1s) == Glitches::Verdict::fine); // 60 and 14
    CHECK(add(glitches, 1, begin + 1s) == Glitches::Verdict::go_away);
    CHECK(add(glitches, 74, begin + 1h) == Glitches::Verdict::fine);
}
