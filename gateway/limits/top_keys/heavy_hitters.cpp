#include "limits/top_keys/heavy_hitters.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <new>
#include <utility>

namespace stint::limits {

namespace {

SteadyTime period_of(SteadyTime now) noexcept {
    return SteadyTime{now.time_since_epoch() / HeavyHitters::period * HeavyHitters::period};
}

} // namespace

HeavyHitters::HeavyHitters(const HeavyHitters& other)
    : halves_{other.halves_ ? std::make_unique<Halves>(*other.halves_) : nullptr},
      newer_{other.newer_}, current_{halves_ ? &(*halves_)[newer_] : nullptr},
      current_ends_{other.current_ends_} {}

bool HeavyHitters::turn(SteadyTime now) noexcept {
    if (halves_ == nullptr) {
        try {
            halves_ = std::make_unique<Halves>();
        } catch (const std::bad_alloc&) {
            return false;
        }
    }
    const SteadyTime begins = period_of(now);
    newer_ = 1 - newer_;
    current_ = &(*halves_)[newer_];
    current_->clear();
    if (begins != current_ends_) // at least one whole period went by without a request
        (*halves_)[1 - newer_].clear();
    current_ends_ = begins + period;
    return true;
}

HeavyHitters::Top
HeavyHitters::merged(std::span<const HeavyHitters* const> parts, std::size_t most, SteadyTime now) {
    const SteadyTime begins = period_of(now);
    std::vector<const SpaceSaving*> halves;
    for (const HeavyHitters* part : parts) {
        if (part->halves_ == nullptr)
            continue;
        if (part->current_ends_ >= begins) // the newer half is of this period or of the one before
            halves.push_back(&(*part->halves_)[part->newer_]);
        if (part->current_ends_ > begins)
            halves.push_back(&(*part->halves_)[1 - part->newer_]);
    }
    Top top;
    top.span = now - begins + period;
    std::map<Hash128, Listed> sum;
    for (const SpaceSaving* half : halves) {
        top.unlisted += half->unlisted();
        for (std::size_t rank = 0; rank < half->size(); ++rank) {
            const SpaceSaving::Entry entry = half->ranked(rank);
            sum.try_emplace(entry.key, Listed{std::string{entry.text}, entry.cut});
        }
    }
    for (auto& [key, listed] : sum) {
        for (const SpaceSaving* half : halves) {
            const auto entry = half->find(key);
            listed.requests += entry ? entry->count : half->unlisted();
            listed.over += entry ? entry->over : half->unlisted();
            listed.refused += entry ? entry->refused : 0;
        }
        top.keys.push_back(std::move(listed));
    }
    const auto heavier = [](const Listed& a, const Listed& b) {
        return a.requests != b.requests ? a.requests > b.requests : a.text < b.text;
    };
    std::ranges::sort(top.keys, heavier);
    if (top.keys.size() > most) {
        top.unlisted = std::max(top.unlisted, top.keys[most].requests);
        top.keys.resize(most);
    }
    return top;
}

} // namespace stint::limits
