#include "limits/prepaid.hpp"

#include "limits/limit.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace stint::limits {

namespace {

// The number of expired permits that one issue() drops at most: few, so that the lock is held
// briefly, but more than the one permit that it adds.
constexpr int forgotten_at_once = 64;

Hash128 counter_of(const Charge& charge) noexcept {
    return charge.limit->keyed() ? charge.key : Hash128{};
}

bool is_cap(const Charge& charge) noexcept {
    return charge.limit->identity().algorithm == Algorithm::concurrency;
}

} // namespace

PrepaidPermits::Claim::Claim() noexcept = default;

PrepaidPermits::Claim::Claim(PrepaidPermits* owner, std::unique_ptr<Entry> entry) noexcept
    : owner_{owner}, entry_{std::move(entry)} {}

PrepaidPermits::Claim::Claim(Claim&& other) noexcept
    : owner_{other.owner_}, entry_{std::move(other.entry_)}, spent_{other.spent_} {}

PrepaidPermits::Claim& PrepaidPermits::Claim::operator=(Claim&& other) noexcept {
    if (this != &other) {
        give_back();
        owner_ = other.owner_;
        entry_ = std::move(other.entry_);
        spent_ = other.spent_;
    }
    return *this;
}

std::uint64_t PrepaidPermits::Claim::paid_of(const Charge& charge) const noexcept {
    if (entry_ == nullptr || is_cap(charge))
        return 0;
    const auto paid = std::ranges::find_if(entry_->paid, [&](const Paid& each) {
        return each.limit == charge.limit->ordinal() && each.key == counter_of(charge);
    });
    return paid != entry_->paid.end() ? std::min(paid->cost, charge.cost) : 0;
}

bool PrepaidPermits::Claim::expired(SteadyTime now) const noexcept {
    return entry_ != nullptr && entry_->expired(now);
}

bool PrepaidPermits::Claim::spend() noexcept {
    assert(entry_ != nullptr);
    if (owner_ == nullptr)
        return false;
    if (!spent_) {
        const std::scoped_lock lock{owner_->mutex_};
        --owner_->out_;
        spent_ = true;
    }
    return !std::exchange(entry_->ever_spent, true);
}

void PrepaidPermits::Claim::take_back() noexcept {
    if (entry_ == nullptr || !spent_)
        return;
    const std::scoped_lock lock{owner_->mutex_};
    ++owner_->out_; // may exceed `most` for this permit
    spent_ = false;
}

void PrepaidPermits::Claim::give_back() noexcept {
    std::unique_ptr<Entry> entry = std::move(entry_);
    if (entry == nullptr || owner_ == nullptr || std::exchange(spent_, false))
        return;
    const std::scoped_lock lock{owner_->mutex_};
    owner_->keep(std::move(entry));
}

PrepaidPermits::PrepaidPermits() = default;

PrepaidPermits::~PrepaidPermits() {
    ids_.clear();
    expiries_.clear_and_dispose(std::default_delete<Entry>{});
}

std::optional<Hash128>
PrepaidPermits::issue(std::span<const Charge> charges, SteadyTime expires, SteadyTime now) noexcept
    try {
    auto entry = std::make_unique<Entry>();
    for (const Charge& each : charges)
        if (!is_cap(each))
            entry->paid.push_back({each.limit->ordinal(), counter_of(each), each.cost});
    if (entry->paid.empty() || expires <= now)
        return std::nullopt;
    entry->expires = expires;

    const std::scoped_lock lock{mutex_};
    forget_expired(now);
    if (out_ >= most)
        return std::nullopt;
    std::array<char, sizeof last_number_> number;
    std::memcpy(number.data(), &++last_number_, number.size());
    const Hash128 id = entry->id = hasher_({number.data(), number.size()});
    ++out_;
    keep(std::move(entry));
    return id;
} catch (const std::bad_alloc&) {
    return std::nullopt;
}

// Returns the unclaimed permit of this id; ids.end() if there is none, or it has expired.
template <class Known>
auto PrepaidPermits::find_good(Known& ids, Hash128 id, SteadyTime now) noexcept {
    const auto found = ids.find(id);
    return found != ids.end() && found->expired(now) ? ids.end() : found;
}

PrepaidPermits::Claim PrepaidPermits::claim(Hash128 id, SteadyTime now) noexcept {
    const std::scoped_lock lock{mutex_};
    const auto found = find_good(ids_, id, now);
    if (found == ids_.end())
        return {};
    std::unique_ptr<Entry> entry{&*found};
    ids_.erase(found);
    expiries_.erase(expiries_.iterator_to(*entry));
    return {this, std::move(entry)};
}

PrepaidPermits::Claim PrepaidPermits::look(Hash128 id, SteadyTime now) const noexcept try {
    const std::scoped_lock lock{mutex_};
    const auto found = find_good(ids_, id, now);
    if (found == ids_.end())
        return {};
    return {nullptr, std::make_unique<Entry>(*found)};
} catch (const std::bad_alloc&) {
    return {};
}

void PrepaidPermits::keep(std::unique_ptr<Entry> entry) noexcept {
    ids_.insert(*entry);
    expiries_.insert(*entry.release());
}

void PrepaidPermits::forget_expired(SteadyTime now) noexcept {
    for (int i = 0; i < forgotten_at_once; ++i) {
        const auto first = expiries_.begin();
        if (first == expiries_.end() || !first->expired(now))
            return;
        ids_.erase(ids_.iterator_to(*first));
        expiries_.erase_and_dispose(first, std::default_delete<Entry>{});
        --out_;
    }
}

} // namespace stint::limits
