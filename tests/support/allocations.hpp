// Counts allocations. A program that links allocations.cpp has its global new and delete.
#pragma once

#include <cstddef>
#include <utility>

namespace stint::test {

// Begins and ends counting what this thread allocates; other threads are none of a test's business.
// The stack of each allocation goes to stderr: it is what a failure is about.
void begin_counting() noexcept;
[[nodiscard]] std::size_t end_counting() noexcept;

// action must not throw.
template <class Action>
[[nodiscard]] std::size_t allocations_in(Action&& action) noexcept {
    begin_counting();
    std::forward<Action>(action)();
    return end_counting();
}

} // namespace stint::test
