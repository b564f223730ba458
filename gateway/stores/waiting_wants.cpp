#include "stores/waiting_wants.hpp"

#include <atomic>

namespace stint::stores {

void WaitingWants::add(const std::string& counter, const Waiter& waiter) {
    waiters_[counter].push_back(waiter);
}

void WaitingWants::answer(const Waiter& waiter, limits::ShareAnswer answer) noexcept {
    std::atomic<std::uint64_t>& count =
        answer == limits::ShareAnswer::told ? counters_.told : counters_.failed;
    count.fetch_add(1, std::memory_order_relaxed);
    waiter.requests->answer(waiter.number, answer);
}

void WaitingWants::answer(const std::string& counter, limits::ShareAnswer answer) noexcept {
    const auto node = waiters_.extract(counter);
    if (node.empty())
        return;
    for (const Waiter& each : node.mapped())
        this->answer(each, answer);
}

void WaitingWants::answer_all(limits::ShareAnswer answer) noexcept {
    for (const auto& [counter, waiters] : waiters_)
        for (const Waiter& each : waiters)
            this->answer(each, answer);
    waiters_.clear();
}

} // namespace stint::stores
