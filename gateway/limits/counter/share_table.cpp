#include "limits/counter/share_table.hpp"

#include <algorithm>
#include <new>

namespace stint::limits {

void RecentUse::add(
    std::int64_t window, std::uint64_t count, SteadyTime now, Duration span) noexcept {
    if (window != window_) {
        if (const std::uint64_t newest = newest_within(span, now); newest > 0) {
            former_ = (former_last_ + span > now ? former_ : 0) + newest;
            former_last_ = last_;
        }
        newest_ = {};
        window_ = window;
        first_ = now;
    }
    const auto part = static_cast<std::uint64_t>(
        std::max<std::int64_t>((now - first_) / length_of_part(span), 0));
    newest_[std::min<std::uint64_t>(part, parts - 1)] += count;
    last_ = std::max(last_, now);
}

// Which admission was given back is not known; the others may be the later ones.
void RecentUse::take_back(std::int64_t window, std::uint64_t count) noexcept {
    if (window != window_)
        return;
    for (std::uint64_t& each : newest_) {
        const std::uint64_t taken = std::min(count, each);
        each -= taken;
        count -= taken;
    }
}

std::uint64_t RecentUse::newest_within(Duration span, SteadyTime now) const noexcept {
    std::uint64_t sum = 0;
    SteadyTime end = first_;
    for (std::size_t part = 0; part < parts; ++part) {
        end = part + 1 < parts ? end + length_of_part(span) : last_;
        if (std::min(end, last_) + span > now)
            sum += newest_[part];
    }
    return sum;
}

std::uint64_t RecentUse::within(Duration span, SteadyTime now) const noexcept {
    return newest_within(span, now) + (former_last_ + span > now ? former_ : 0);
}

ShareTable::Entry* ShareTable::find(Hash128 key) noexcept {
    const auto found = entries_.find(key);
    return found != entries_.end() ? &found->second : nullptr;
}

const ShareTable::Entry* ShareTable::find(Hash128 key) const noexcept {
    const auto found = entries_.find(key);
    return found != entries_.end() ? &found->second : nullptr;
}

bool ShareTable::narrow(
    ChargeTerms& terms, const Entry* entry, const SharePolicy& policy, SteadyTime now) noexcept {
    const auto part = policy.numbers(entry != nullptr ? entry->held_share() : nullptr, now);
    if (!part)
        return false;
    terms.quota = std::min(terms.quota, part->quota);
    terms.burst = std::min(terms.burst, part->burst > 0 ? part->burst : part->quota);
    return true;
}

void ShareTable::note_want(
    Verdict& verdict,
    const std::unique_ptr<ShareTable>& table,
    Hash128 key,
    std::uint64_t cost,
    const SharePolicy& policy,
    SteadyTime now) noexcept {
    Entry* const entry = table != nullptr ? table->find(key) : nullptr;
    if (entry != nullptr) {
        entry->demand.wanted_at = now;
        entry->demand.cost = cost;
    }
    const Share* const share = entry != nullptr ? entry->held_share() : nullptr;
    verdict.lack = policy.lack(share, now);
    if (share != nullptr && now < share->more_at)
        verdict.wait = std::min(verdict.wait, share->more_at - now);
}

ShareTable::Obtained ShareTable::obtain(Hash128 key) noexcept try {
    if (Entry* const known = find(key))
        return {known, false};
    if (entries_.size() >= most_)
        return {nullptr, false};
    return {&entries_[key], true};
} catch (const std::bad_alloc&) {
    return {nullptr, false};
}

void ShareTable::note_use(
    Hash128 key, const Receipt& receipt, SteadyTime now, Duration per) noexcept {
    if (Entry* const entry = find(key))
        entry->used.add(receipt.mark, receipt.cost, now, per);
}

void ShareTable::take_back_use(Hash128 key, const Receipt& receipt, std::uint64_t cost) noexcept {
    if (Entry* const entry = find(key))
        entry->used.take_back(receipt.mark, cost);
}

ShareTable::Entry*
ShareTable::end(Hash128 key, Entry& entry, Duration per, SteadyTime now) noexcept {
    entry.held = false;
    if (entry.used.within(per, now) > 0)
        return &entry;
    entries_.erase(key);
    return nullptr;
}

} // namespace stint::limits
