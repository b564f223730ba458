#include "limits/shared/lease_cover.hpp"

#include <algorithm>
#include <utility>

namespace stint::limits {

void LeaseCover::begin(std::uint64_t max, Duration longest) noexcept {
    const std::lock_guard lock{mutex_};
    begun_ = true;
    max_ = max;
    longest_ = std::max(longest_, longest);
    span_ = std::max(span_, longest_);
}

bool LeaseCover::begun() const noexcept {
    const std::lock_guard lock{mutex_};
    return begun_;
}

std::uint64_t LeaseCover::max() const noexcept {
    const std::lock_guard lock{mutex_};
    return max_;
}

void LeaseCover::report(std::uint64_t slots) noexcept {
    const std::lock_guard lock{mutex_};
    reported_ = slots;
}

bool LeaseCover::has_report() const noexcept {
    const std::lock_guard lock{mutex_};
    return reported_ > 0;
}

std::uint64_t LeaseCover::take_report() noexcept {
    const std::lock_guard lock{mutex_};
    return std::exchange(reported_, 0);
}

Duration LeaseCover::span() const noexcept {
    const std::lock_guard lock{mutex_};
    return span_;
}

void LeaseCover::note_span(Duration of_others) noexcept {
    const std::lock_guard lock{mutex_};
    span_ = std::max(span_, of_others);
}

void LeaseCover::cover(std::uint64_t slots, Duration span, bool resume) noexcept {
    const std::lock_guard lock{mutex_};
    lost_ = lost_ && !resume;
    covered_ = lost_ ? 0 : slots;
    told_ = span;
}

void LeaseCover::cover_at_most(std::uint64_t slots) noexcept {
    const std::lock_guard lock{mutex_};
    covered_ = std::min(covered_, slots);
}

void LeaseCover::uncover() noexcept {
    const std::lock_guard lock{mutex_};
    lost_ = true;
    covered_ = 0;
    next_ = end_ = 0;
}

void LeaseCover::add_fences(std::uint64_t first, std::uint64_t count) noexcept {
    const std::lock_guard lock{mutex_};
    next_ = first;
    end_ = first + count;
    asked_ = false;
}

void LeaseCover::drop_fences() noexcept {
    const std::lock_guard lock{mutex_};
    next_ = end_ = 0;
}

void LeaseCover::note_fence(std::uint64_t highest) noexcept {
    const std::lock_guard lock{mutex_};
    highest_ = std::max(highest_, highest);
}

bool LeaseCover::runs_low() const noexcept {
    const std::lock_guard lock{mutex_};
    return low();
}

std::uint64_t LeaseCover::covered() const noexcept {
    const std::lock_guard lock{mutex_};
    return covered_;
}

Duration LeaseCover::longest_lease() const noexcept {
    const std::lock_guard lock{mutex_};
    return std::min(longest_, told_);
}

std::optional<std::uint64_t> LeaseCover::next_fence() noexcept {
    const std::lock_guard lock{mutex_};
    if (next_ >= end_)
        return std::nullopt;
    highest_ = std::max(highest_, next_);
    return next_++;
}

bool LeaseCover::take_turn_to_ask() noexcept {
    const std::lock_guard lock{mutex_};
    return low() && !std::exchange(asked_, true);
}

std::uint64_t LeaseCover::highest_fence() const noexcept {
    const std::lock_guard lock{mutex_};
    return highest_;
}

} // namespace stint::limits
