// What admit_reserving() would answer, without charging, claiming or giving.
#include "reserving_fixture.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

// A limit of one whose window is full.
struct FullLimit : Limit {
    explicit FullLimit(Duration per, Duration since = 0s) : Limit{window(per)} {
        REQUIRE(admit_one(*this, 1, at(since)).allowed());
    }
};

} // namespace

TEST_CASE("a preview tells the instant of the slot that would be given, and gives none") {
    FullLimit limit{10s};

    for (const Duration told : {9s, 21s, 33s}) {
        ReservingRequest request{limit, 1, key(1)};
        for (int i = 0; i < 3; ++i) {
            const Decision preview = request.preview(at(1s));
            CHECK(preview.refusal == Refusal::window);
            CHECK(preview.retry_after == told);
            CHECK(request.reserving[0].slot == 0);
        }
        ReservingRequest other{limit, 1, key(static_cast<std::uint64_t>(told.count()))};
        CHECK(other.admit(at(1s)).retry_after == told);
    }

    CHECK(limit.reservations().given() == 3);
    CHECK(limit.refused() == 3);
}

TEST_CASE("a preview of a request that comes too early returns its own slot's instant") {
    FullLimit limit{10s};
    ReservingRequest first{limit, 1, key(1)};
    REQUIRE(first.admit(at(1s)).retry_after == 9s);
    ReservingRequest again{limit, 1, key(1), first.reserving[0].slot};

    const Decision preview = again.preview(at(4s));

    CHECK(preview.retry_after == 6s);
    CHECK(again.reserving[0].slot == 0);
    CHECK(again.admit(at(4s)).retry_after == 6s);
}

TEST_CASE("a preview of a request that may claim a slot is admitted, and the slot stays") {
    FullLimit limit{10s};
    ReservingRequest first{limit, 1, key(1)};
    REQUIRE_FALSE(first.admit(at(1s)).allowed());
    ReservingRequest again{limit, 1, key(9), first.reserving[0].slot};
    ReservingRequest other{limit, 1, key(2)};

    CHECK(again.preview(at(10s)).allowed());
    CHECK(again.charges[0].reserved_for_others == 0);
    CHECK(again.states[0].counter.remaining == 1);
    CHECK_FALSE(other.preview(at(10s)).allowed()); // it is still held
    CHECK(other.charges[0].reserved_for_others == 1);
    CHECK(other.states[0].counter.remaining == 0);
    CHECK(limit.reservations().claimed() == 0);
    CHECK(again.admit(at(10s)).allowed());
    CHECK_FALSE(again.preview(at(10s)).allowed());
}

TEST_CASE("a preview of a request that another limit refuses returns that limit's time") {
    FullLimit reserving{10s};
    FullLimit other{60s};
    ReservingRequest request{reserving, 1, key(1)};
    request.charges.push_back({.limit = &other, .quota = 1});

    const Decision preview = request.preview(at(1s));

    CHECK(preview.refused_by == 1);
    CHECK(preview.retry_after == 59s);
}

TEST_CASE("a preview before several limits that reserve tells the one instant for all") {
    FullLimit narrow{10s};
    FullLimit wide{20s, 5s};
    ReservingRequest request{narrow, 1, key(1)};
    request.charges.push_back({.limit = &wide, .quota = 1});
    request.reserving.push_back({1, key(1)});

    CHECK(request.preview(at(6s)).retry_after == 19s);
    CHECK(request.admit(at(6s)).retry_after == 19s);
}

TEST_CASE("a preview without limits that reserve is a plain one") {
    Limit limit{window(10s)};
    ReservingRequest request;
    request.charges.push_back({.limit = &limit, .quota = 1});

    CHECK(request.preview(at(0s)).allowed());
    CHECK(request.admit(at(0s)).allowed());
    CHECK(request.preview(at(1s)).retry_after == 9s);
}
