#include "fixture.hpp"
#include "limits/algorithm/window.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

const WallRuler second{1s};

ClockWindow opened(const Now& now, Duration per) {
    ClockWindow window;
    window.advance(now, WallRuler{per});
    return window;
}

} // namespace

TEST_CASE("a window that was never opened is not open") {
    CHECK_FALSE(ClockWindow{}.open_at(start, second));
}

TEST_CASE("anchored at the first request a window lasts its length from that request") {
    Limit limit{window(1s)};
    REQUIRE(admit_one(limit, 1, at(300ms)).allowed());

    CHECK_FALSE(admit_one(limit, 1, at(1300ms - 1ns)).allowed());
    CHECK(admit_one(limit, 1, at(1300ms)).allowed());
}

TEST_CASE("anchored at the first request no change of the wall clock ends or prolongs a window") {
    Limit limit{window(1s)};
    REQUIRE(admit_one(limit, 1, start).allowed());

    CHECK_FALSE(admit_one(limit, 1, at(999ms, 24h)).allowed());
    CHECK(admit_one(limit, 1, at(1s, -24h)).allowed());
}

TEST_CASE("anchored at the clock a window ends at the next multiple of its length") {
    const ClockWindow window = opened(at(300ms), 1s);

    CHECK(window.end == at(1s).steady);
    CHECK(window.open_at(at(1s - 1ns), second));
    CHECK_FALSE(window.open_at(at(1s), second));
}

TEST_CASE("anchored at the clock a window that opens on a multiple lasts its whole length") {
    CHECK(opened(start, 1s).end == at(1s).steady);
}

TEST_CASE("advancing an open window changes nothing") {
    ClockWindow window = opened(start, 1s);
    CHECK_FALSE(window.advance(at(500ms), second));

    CHECK(window.end == at(1s).steady);
}

TEST_CASE("a wall clock set back keeps the window that has begun until its time is over") {
    ClockWindow window = opened(at(300ms), 1s);
    CHECK_FALSE(window.advance(at(999ms, -10s), second));

    CHECK(window.end == at(1s).steady);
}

TEST_CASE("what the wall clock shows for the second time is joined to the following window") {
    ClockWindow window = opened(at(300ms), 1s);

    // Set back by 0.4 s: the boundary at which the window ended comes again at 1.4 s.
    CHECK(window.advance(at(1s, -400ms), second));

    CHECK(window.end == at(2400ms).steady);
    CHECK_FALSE(window.open_at(at(2400ms, -400ms), second));
}

TEST_CASE("after a step back of many lengths the windows go on by the clock that is shown") {
    ClockWindow window = opened(at(300ms), 1s);

    window.advance(at(1s, -100s), second);
    CHECK(window.end == at(2s).steady);

    window.advance(at(2s, -100s), second);
    CHECK(window.end == at(3s).steady);
}

TEST_CASE("a wall clock that is slewed a little behind joins no more than that little") {
    ClockWindow window = opened(start, 1s);

    window.advance(at(1s, -1us), second);

    CHECK(window.end == at(2s + 1us).steady);
}

TEST_CASE("a stretch that lies wholly behind the last window is not joined to anything") {
    ClockWindow window = opened(start, 1s);

    // The request comes long after the window; the clock then shows a time before its end.
    window.advance(at(10s, -10s + 300ms), second);

    CHECK(window.end == at(10s + 700ms).steady);
}

TEST_CASE("a wall clock set forward past the window's end opens the next in full") {
    ClockWindow window = opened(at(300ms), 1s);
    CHECK(window.advance(at(400ms, 5s + 200ms), second));

    CHECK(window.end == at(800ms).steady);
}

TEST_CASE("a window opened by a step forward by whole lengths is told from the one before") {
    ClockWindow window = opened(start, 1s);
    CHECK(window.advance(at(100ms, 3s), second));

    CHECK(window.end == at(1s).steady);
}

TEST_CASE("a wall clock before 1970 has windows like any other") {
    const Now before{start.steady, WallTime{-1300ms}};

    CHECK(opened(before, 1s).end == start.steady + 300ms);
}

TEST_CASE("no wall clock is too far away") {
    for (const WallTime wall : {WallTime::min(), WallTime::max()})
        for (const Duration per : {Duration{1ms}, Duration{366 * 24h}}) {
            const ClockWindow window = opened({start.steady, wall}, per);
            CHECK(window.end > start.steady);
            CHECK(window.end <= start.steady + per);
        }
}
