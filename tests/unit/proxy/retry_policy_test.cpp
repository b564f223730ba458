// Decisions on a retry, without anything that is sent.
#include "base/time.hpp"
#include "proxy/forward/retry_policy.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace stint;
using namespace std::chrono_literals;
using proxy::RetryPolicy;
using Verdict = RetryPolicy::Verdict;

namespace {

constexpr SteadyTime now{1000s};

RetryPolicy::Facts sent(std::string_view method = "GET") {
    return {
        .method = method,
        .can_replay = true,
        .body_done = true,
        .client_untold = true,
        .goes_on = true,
        .request_begun = true};
}

routing::RetryRules rules(std::uint32_t attempts = 3) {
    routing::RetryRules made;
    made.attempts = attempts;
    made.methods = {"GET", "PUT"};
    made.budget = 100;
    return made;
}

} // namespace

TEST_CASE("an idle connection that broke is replaced once, unless the upstream may have acted") {
    RetryPolicy retry;
    CHECK(retry.may_reconnect(true, sent()));
    CHECK_FALSE(retry.may_reconnect(false, sent())); // a new one has failed
    CHECK_FALSE(retry.may_reconnect(true, sent("POST")));
    RetryPolicy::Facts untouched = sent("POST");
    untouched.request_begun = false;
    CHECK(retry.may_reconnect(true, untouched));
    RetryPolicy::Facts answered = sent();
    answered.response_begun = true;
    CHECK_FALSE(retry.may_reconnect(true, answered));
    RetryPolicy::Facts read_on = sent();
    read_on.can_replay = false;
    CHECK_FALSE(retry.may_reconnect(true, read_on));

    retry.reconnect();
    CHECK_FALSE(retry.may_reconnect(true, sent()));
    CHECK(retry.attempts() == 1);
}

TEST_CASE(
    "rules allow so many attempts, of a request that is whole and a client that has nothing") {
    RetryPolicy retry;
    const upstream::RetryBudget budget;
    CHECK(retry.judge(rules(), sent(), budget, now) == Verdict::yes);
    CHECK(retry.judge(rules(), sent("POST"), budget, now) == Verdict::no);
    CHECK(retry.judge(rules(0), sent(), budget, now) == Verdict::no);
    for (bool RetryPolicy::Facts::*needed :
         {&RetryPolicy::Facts::can_replay, &RetryPolicy::Facts::body_done,
          &RetryPolicy::Facts::client_untold, &RetryPolicy::Facts::goes_on}) {
        RetryPolicy::Facts lacking = sent();
        lacking.*needed = false;
        CHECK(retry.judge(rules(), lacking, budget, now) == Verdict::no);
    }
    retry.begin_attempt();
    CHECK(retry.judge(rules(), sent(), budget, now) == Verdict::yes);
    retry.begin_attempt();
    CHECK(retry.attempts() == 3);
    CHECK(retry.judge(rules(), sent(), budget, now) == Verdict::no);
    retry.restart();
    CHECK(retry.judge(rules(), sent(), budget, now) == Verdict::yes);
}

TEST_CASE("a retry beyond the budget is told apart from one that no rule allows") {
    RetryPolicy retry;
    upstream::RetryBudget budget;
    budget.note_request(now);
    routing::RetryRules strict = rules();
    strict.budget = 0;
    CHECK(retry.judge(strict, sent(), budget, now) == Verdict::yes); // one a second, always
    for (int i = 0; i < 20; ++i)
        budget.note_retry(now);
    CHECK(retry.judge(strict, sent(), budget, now) == Verdict::over_budget);
}

TEST_CASE("a refused connection fails over once") {
    RetryPolicy retry;
    CHECK(retry.fail_over({}));
    CHECK_FALSE(retry.fail_over({}));
    RetryPolicy last;
    CHECK_FALSE(last.fail_over(rules(1)));
    RetryPolicy fresh;
    CHECK(fresh.fail_over(rules(2)));
}

TEST_CASE("a request is counted in its upstream's budget once, whatever is restarted") {
    RetryPolicy retry;
    CHECK(retry.count_request());
    CHECK_FALSE(retry.count_request());
    retry.restart();
    CHECK_FALSE(retry.count_request());
}
