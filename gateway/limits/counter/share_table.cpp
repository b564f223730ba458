#include "limits/counter/share_table.hpp"

#include <algorithm>
#include <new>

namespace stint::limits {

void RecentUse::add(
    std::int64_t window, std::uint64_t count, SteadyTime now, Duration span) noexcept {
    if (window != window_) {
        if (newest_.counts(span, now)) {
            const std::uint64_t before = former_.counts(span, now) ? former_.count : 0;
            former_ = {before + newest_.count, newest_.last};
        }
        newest_ = {};
        window_ = window;
    }
    newest_.count += count;
    newest_.last = std::max(newest_.last, now);
}

void RecentUse::take_back(std::int64_t window, std::uint64_t count) noexcept {
    if (window == window_)
        newest_.count -= std::min(count, newest_.count);
}

std::uint64_t RecentUse::within(Duration span, SteadyTime now) const noexcept {
    return (newest_.counts(span, now) ? newest_.count : 0) +
           (former_.counts(span, now) ? former_.count : 0);
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
    const SharePolicy& policy,
    SteadyTime now) noexcept {
    Entry* const entry = table != nullptr ? table->find(key) : nullptr;
    if (entry != nullptr)
        entry->demand.wanted_at = now;
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
