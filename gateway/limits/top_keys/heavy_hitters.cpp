#include "limits/top_keys/heavy_hitters.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <new>
#include <string_view>
#include <tuple>
#include <utility>

namespace stint::limits {

namespace {

SteadyTime period_of(SteadyTime now) noexcept {
    return SteadyTime{now.time_since_epoch() / HeavyHitters::period * HeavyHitters::period};
}

using Listed = HeavyHitters::Listed;
using By = HeavyHitters::By;

std::uint64_t count_of(const Listed& listed, By by) noexcept {
    switch (by) {
    case By::requests:
        break;
    case By::refused:
        return listed.refused;
    case By::would_refuse:
        return listed.would_refuse;
    }
    return listed.requests;
}

// Returns the highest value that the key's true count can have. The listed count may be lower,
// because a key that loses its entry loses its counts of refusals.
std::uint64_t most_of(const Listed& listed, By by) noexcept {
    return std::min(listed.requests, count_of(listed, by) + listed.over);
}

// Returns every key of the parts with the sums of its counts.
std::vector<Listed> summed(std::span<const SpaceSaving* const> parts) {
    std::map<Hash128, Listed> sums;
    for (const SpaceSaving* part : parts)
        for (std::size_t rank = 0; rank < part->size(); ++rank) {
            const SpaceSaving::Entry entry = part->ranked(rank);
            sums.try_emplace(entry.key, Listed{std::string{entry.text}, entry.cut});
        }
    std::vector<Listed> all;
    for (auto& [key, listed] : sums) {
        for (const SpaceSaving* part : parts) {
            const auto entry = part->find(key);
            listed.requests += entry ? entry->count : part->unlisted();
            listed.over += entry ? entry->over : part->unlisted();
            listed.refused += entry ? entry->refused : 0;
            listed.would_refuse += entry ? entry->would_refuse : 0;
        }
        all.push_back(std::move(listed));
    }
    return all;
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

std::optional<SpaceSaving::Entry> HeavyHitters::find(Hash128 key) const noexcept {
    if (halves_ == nullptr)
        return std::nullopt;
    const auto entry = current_->find(key);
    return entry ? entry : (*halves_)[1 - newer_].find(key);
}

HeavyHitters::Top HeavyHitters::merged(
    std::span<const HeavyHitters* const> parts, std::size_t most, By by, SteadyTime now) {
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
    for (const SpaceSaving* half : halves)
        top.unlisted += half->unlisted();
    top.keys = summed(halves);
    const auto heavier = [by](const Listed& a, const Listed& b) {
        return std::tuple{count_of(b, by), b.requests, std::string_view{a.text}} <
               std::tuple{count_of(a, by), a.requests, std::string_view{b.text}};
    };
    std::ranges::sort(top.keys, heavier);
    const auto none = std::ranges::find_if(
        top.keys, [by](const Listed& listed) { return count_of(listed, by) == 0; });
    const auto counted = static_cast<std::size_t>(none - top.keys.begin());
    const auto end = top.keys.begin() + static_cast<std::ptrdiff_t>(std::min(counted, most));
    for (auto other = end; other != top.keys.end(); ++other)
        top.unlisted = std::max(top.unlisted, most_of(*other, by));
    top.keys.erase(end, top.keys.end());
    return top;
}

} // namespace stint::limits
