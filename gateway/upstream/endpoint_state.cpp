#include "upstream/endpoint_state.hpp"

#include <exception>

namespace stint::upstream {

void EndpointState::come_back(std::uint32_t bit, SteadyTime now) noexcept {
    if ((out_.load(relaxed) & bit) == 0)
        return;
    failures_in_a_row_.store(0, relaxed);
    // Set before out_: a worker must not see the endpoint up without its slow start.
    set_back_since(now);
    out_.fetch_and(~bit, std::memory_order_release);
}

// Sets back_since_ to `at`, unless it is later already: of several absences, the one that ends last
// counts.
void EndpointState::set_back_since(SteadyTime at) noexcept {
    std::int64_t known = back_since_.load(relaxed);
    while (known < ticks(at) && !back_since_.compare_exchange_weak(known, ticks(at), relaxed)) {
    }
}

void EndpointState::eject(const Ejection& ejection) noexcept {
    last_ejection_ = ejection;
    failures_in_a_row_.store(0, relaxed);
    ejections_.fetch_add(1, relaxed);
    set_back_since(ejection.until);
    ejected_until_.store(ticks(ejection.until), relaxed);
}

std::uint32_t EndpointState::note_failure(std::string_view why) noexcept {
    failures_.fetch_add(1, relaxed);
    try {
        const std::lock_guard lock{texts_};
        last_failure_ = why;
    } catch (const std::exception&) {
        // No memory for the text, which only people read. The failure is still counted below.
    }
    return failures_in_a_row_.fetch_add(1, relaxed) + 1;
}

std::string EndpointState::last_failure() const {
    const std::lock_guard lock{texts_};
    return last_failure_;
}

void EndpointState::note_check(Check check) noexcept {
    (check.passed ? checks_passed_ : checks_failed_).fetch_add(1, relaxed);
    const std::lock_guard lock{texts_};
    last_check_ = std::move(check);
}

EndpointState::Check EndpointState::last_check() const {
    const std::lock_guard lock{texts_};
    return last_check_;
}

bool EndpointState::charge(std::uint32_t most) noexcept {
    if (most == 0) {
        in_flight_.fetch_add(1, relaxed);
        return true;
    }
    std::uint32_t known = in_flight_.load(std::memory_order_seq_cst);
    while (known < most)
        if (in_flight_.compare_exchange_weak(known, known + 1))
            return true;
    return false;
}

} // namespace stint::upstream
