#include "upstream/retry_budget.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace std::chrono_literals;
using stint::SteadyTime;
using stint::upstream::RetryBudget;

namespace {

constexpr SteadyTime start{1'000'000s};

unsigned taken(RetryBudget& budget, SteadyTime now, unsigned percent, unsigned wanted = 1000) {
    unsigned taken = 0;
    for (; taken < wanted && budget.allows(now, percent); ++taken)
        budget.note_retry(now);
    return taken;
}

} // namespace

TEST_CASE("retries stay within their share of the requests") {
    RetryBudget budget;
    for (int i = 0; i < 200; ++i)
        budget.note_request(start);

    CHECK(taken(budget, start, 20) == 40);
    CHECK(taken(budget, start, 20) == 0);
}

TEST_CASE("requests and retries count for ten seconds") {
    RetryBudget budget;
    for (int i = 0; i < 100; ++i)
        budget.note_request(start);

    CHECK(taken(budget, start + 9s, 20, 15) == 15);
    CHECK(taken(budget, start + 9s, 20) == 5);
    CHECK(taken(budget, start + 10s, 20) == RetryBudget::always); // those requests are forgotten
    for (int i = 0; i < 200; ++i)
        budget.note_request(start + 10s);
    CHECK(taken(budget, start + 10s, 20) == 19); // 21 of 40 are taken
}

TEST_CASE("a quiet upstream has one retry a second all the same") {
    RetryBudget budget;

    CHECK(taken(budget, start, 20) == 1);
    CHECK(taken(budget, start + 500ms, 20) == 0);
    CHECK(taken(budget, start + 1s, 20) == 1);
    CHECK(taken(budget, start + 1h, 0) == 1);
}
