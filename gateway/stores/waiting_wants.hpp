// The wants that wait for a store's answer, by their counters.
#pragma once

#include "stores/store_state.hpp"
#include "stores/want_inbox.hpp"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace stint::stores {

// Not thread-safe. Answers each want once, and counts the answers.
class WaitingWants {
  public:
    explicit WaitingWants(StoreCounters& counters) noexcept : counters_{counters} {}

    // Throws std::bad_alloc with nothing changed.
    void add(const std::string& counter, const Waiter& waiter);
    // Answers one that does not wait.
    void answer(const Waiter& waiter, limits::ShareAnswer answer) noexcept;
    // Answers all of the counter.
    void answer(const std::string& counter, limits::ShareAnswer answer) noexcept;
    void answer_all(limits::ShareAnswer answer) noexcept;
    [[nodiscard]] std::size_t counters() const noexcept { return waiters_.size(); }

  private:
    StoreCounters& counters_;
    std::unordered_map<std::string, std::vector<Waiter>> waiters_;
};

} // namespace stint::stores
