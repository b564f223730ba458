#include "limits/permit.hpp"

#include "limits/counters.hpp"

#include <algorithm>
#include <utility>

namespace stint::limits {

Permit::Permit(Permit&& other) noexcept : held_{std::move(other.held_)}, since_{other.since_} {
    other.held_.clear();
}

Permit& Permit::operator=(Permit&& other) noexcept {
    if (this != &other) {
        drop();
        held_ = std::move(other.held_);
        since_ = other.since_;
        other.held_.clear();
    }
    return *this;
}

void Permit::release(const Now& now) noexcept {
    const Duration held_for = std::max(now.steady - since_, Duration::zero());
    for (const Held& held : held_)
        held.limit->counters_->learn_hold(held_for);
    drop();
}

void Permit::drop() noexcept {
    for (const Held& held : held_)
        held.limit->counters_->release(held.key);
    held_.clear();
}

} // namespace stint::limits
