#include "upstream/retry_budget.hpp"

namespace stint::upstream {

RetryBudget::Second& RetryBudget::second_of(SteadyTime now) noexcept {
    const std::int64_t number = number_of(now);
    Second& second = seconds_[static_cast<std::size_t>(number) % length];
    if (second.number != number)
        second = {number, 0, 0};
    return second;
}

bool RetryBudget::take(SteadyTime now, unsigned percent) noexcept {
    Second& this_second = second_of(now);
    const std::int64_t oldest = this_second.number - static_cast<std::int64_t>(length);
    std::uint64_t requests = 0;
    std::uint64_t retries = 0;
    for (const Second& each : seconds_) {
        if (each.number <= oldest)
            continue;
        requests += each.requests;
        retries += each.retries;
    }
    const bool within = (retries + 1) * 100 <= requests * percent;
    if (!within && this_second.retries >= always)
        return false;
    ++this_second.retries;
    return true;
}

} // namespace stint::upstream
