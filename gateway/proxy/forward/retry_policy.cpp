#include "proxy/forward/retry_policy.hpp"

#include <algorithm>
#include <iterator>

namespace stint::proxy {
namespace {

bool is_idempotent(std::string_view method) noexcept {
    constexpr std::string_view methods[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
    return std::find(std::begin(methods), std::end(methods), method) != std::end(methods);
}

} // namespace

bool RetryPolicy::may_reconnect(bool reused, const Facts& facts) const noexcept {
    return reused && !reconnected_ && facts.can_replay && !facts.response_begun &&
           (!facts.request_begun || is_idempotent(facts.method));
}

RetryPolicy::Verdict RetryPolicy::judge(
    const routing::RetryRules& rules,
    const Facts& facts,
    const upstream::RetryBudget& budget,
    SteadyTime now) const noexcept {
    const bool whole = facts.body_done && facts.can_replay;
    if (attempts_ >= rules.attempts || !facts.goes_on || !facts.client_untold || !whole ||
        !rules.on_method(facts.method))
        return Verdict::no;
    return budget.allows(now, rules.budget) ? Verdict::yes : Verdict::over_budget;
}

bool RetryPolicy::fail_over(const routing::RetryRules& rules) noexcept {
    return !std::exchange(failed_over_, true) && (!rules.any() || attempts_ < rules.attempts);
}

void RetryPolicy::restart() noexcept {
    reconnected_ = failed_over_ = false;
    attempts_ = 1;
}

} // namespace stint::proxy
