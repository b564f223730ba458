#include "observe/series_choice.hpp"

#include <doctest/doctest.h>

using namespace stint::observe;

TEST_CASE("names that all fit have series of their own before they are used") {
    SeriesChoice choice;

    choice.decide({0, 0, 0}, 3);

    CHECK(choice.has_own(0));
    CHECK(choice.has_own(2));
    CHECK_FALSE(choice.has_own(3));
}

TEST_CASE("of too many names the most used ones have series of their own") {
    SeriesChoice choice;

    choice.decide({1, 7, 0, 5}, 2);

    CHECK_FALSE(choice.has_own(0));
    CHECK(choice.has_own(1));
    CHECK_FALSE(choice.has_own(2));
    CHECK(choice.has_own(3));
}

TEST_CASE("an unused name gets what room is left when it is used") {
    SeriesChoice choice;
    choice.decide({0, 7, 0}, 2);
    REQUIRE_FALSE(choice.has_own(2));

    choice.decide({0, 8, 1}, 2);

    CHECK(choice.has_own(1));
    CHECK(choice.has_own(2));
    CHECK_FALSE(choice.has_own(0));
}

TEST_CASE("a choice is for good") {
    SeriesChoice choice;
    choice.decide({9, 1, 5}, 2);
    REQUIRE_FALSE(choice.has_own(1));

    SUBCASE("whoever is used the most later") {
        choice.decide({9, 1'000, 5}, 2);
    }
    SUBCASE("with more room, for what was counted together") {
        choice.decide({9, 1'000, 5, 0}, 10);
        CHECK(choice.has_own(3));
    }
    SUBCASE("with less room, for what has its own") {
        choice.decide({9, 1'000, 5, 6}, 0);
        CHECK_FALSE(choice.has_own(3));
    }

    CHECK(choice.has_own(0));
    CHECK_FALSE(choice.has_own(1));
    CHECK(choice.has_own(2));
}

TEST_CASE("with no room a used name is counted together with others for good") {
    SeriesChoice choice;
    choice.decide({4, 0}, 0);

    choice.decide({4, 3}, 5);

    CHECK_FALSE(choice.has_own(0));
    CHECK(choice.has_own(1));
}
