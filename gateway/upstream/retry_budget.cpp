#include "upstream/retry_budget.hpp"

namespace stint::upstream {

RetryBudget::Second& RetryBudget::second_of(SteadyTime now) noexcept {
    const std::int64_t number = number_of(now);
    Second& second = seconds_[static_cast<std::size_t>(number) % length];
    if (second.number != number)
        second = {number, 0, 0};
    return second;
}

bool RetryBudget::allows(SteadyTime now, unsigned percent) const noexcept {
    const std::int64_t this_second = number_of(now);
    std::uint64_t requests = 0;
    std::uint64_t retries = 0;
    std::uint64_t just_now = 0;
    for (const Second& each : seconds_) {
        if (each.number <= this_second - static_cast<std::int64_t>(length))
            continue;
        requests += each.requests;
        retries += each.retries;
        just_now += each.number == this_second ? each.retries : 0;
    }
    return (retries + 1) * 100 <= requests * percent || just_now < always;
}

} // namespace stint::upstream
