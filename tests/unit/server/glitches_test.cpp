#include "server/glitches.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace stint;
using namespace std::chrono_literals;
using server::Glitches;
using server::UselessBytes;

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

TEST_CASE("8 MB of bytes without use fill the bucket, and 8 KB are forgotten each second") {
    UselessBytes bytes;
    bytes.receive(8'000'000);
    CHECK_FALSE(bytes.full(begin));
    bytes.receive(1'000'000);
    CHECK(bytes.full(begin));
    CHECK(bytes.full(begin + 50s));
    CHECK_FALSE(bytes.full(begin + 200s));
    bytes.receive(8'000'000);
    CHECK_FALSE(bytes.full(begin + 1h)); // all before was forgotten
}

TEST_CASE("a byte of use makes up for eight without, that came before it") {
    UselessBytes bytes;
    bytes.use(1'000'000);
    bytes.receive(9'000'000);
    CHECK(bytes.full(begin));
    bytes.use(100'000);
    CHECK_FALSE(bytes.full(begin));
}

TEST_CASE("what was on its way to a stream that the gateway has reset is excused, once") {
    UselessBytes bytes;
    bytes.excuse(2'000'000);
    bytes.receive(10'000'000);
    CHECK_FALSE(bytes.full(begin));
    CHECK_FALSE(bytes.full(begin + 200s));
    bytes.receive(2'000'000);
    CHECK(bytes.full(begin + 200s));
}
