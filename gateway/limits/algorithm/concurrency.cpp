// A cap on requests in flight. Cell: stamp = 1 once used; used = the slots that are held.
#include "limits/algorithm/algorithm_ops.hpp"

namespace stint::limits {

namespace {

Verdict check(const CounterCell& slot, const ChargeTerms& terms, SteadyTime) noexcept {
    if (slot.used + terms.cost <= terms.quota) [[likely]]
        return {};
    if (terms.cost > terms.quota && terms.quota > 0)
        return {Refusal::cost, Duration::max()};
    return {Refusal::cap, {}};
}

Receipt charge(CounterCell& slot, const ChargeTerms& terms, SteadyTime) noexcept {
    slot.stamp = 1;
    slot.used += terms.cost;
    return {.mark = 1, .cost = terms.cost, .quota = terms.quota, .returned = 0, .overflow = false};
}

void give_back(CounterCell& slot, const ChargeTerms& terms, Receipt&, SteadyTime) noexcept {
    slot.used -= terms.cost;
}

CounterState state(const CounterCell& slot, const ChargeTerms& terms, SteadyTime) noexcept {
    return {slot.used, terms.quota > slot.used ? terms.quota - slot.used : 0, Duration{}};
}

} // namespace

const AlgorithmOps concurrency_ops{
    .check = check, .charge = charge, .give_back = give_back, .state = state};

} // namespace stint::limits
