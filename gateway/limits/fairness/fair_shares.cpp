#include "limits/fairness/fair_shares.hpp"

#include "limits/algorithm/fraction.hpp"

#include <boost/container/static_vector.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>

namespace stint::limits {

namespace {

// Nothing is kept for any owner in the last 32nd of a window.
constexpr int last_part = 32;
constexpr Duration between_looks = std::chrono::seconds{1};

// Returns amount * left / length, rounded up.
std::uint64_t part_of(std::uint64_t amount, Duration left, Duration length) noexcept {
    if (left >= length)
        return amount;
    const std::int64_t part =
        divide_up(left.count(), amount, static_cast<std::uint64_t>(length.count()));
    return static_cast<std::uint64_t>(part);
}

// Returns the part of an owner's demand that may still be expected with so much time left.
std::uint64_t expected(std::uint64_t demand, Duration left, Duration length) noexcept {
    return left <= length / last_part ? 0 : part_of(demand, left, length);
}

} // namespace

std::uint64_t FairShares::Owner::demand(std::uint64_t quota) const noexcept {
    return std::min(std::max(former, asked), quota);
}

// Begins a new window in the table if the table's window is over. If it is not, only takes over the
// end of the counter's window, once a charge has opened that window: before, `window` always ends a
// whole length from now.
void FairShares::OwnerTable::turn_to(const Window& window, SteadyTime now) noexcept {
    if (now < end_) {
        if (window.end - now < window.length)
            end_ = window.end;
        return;
    }
    const bool followed = now < end_ + length_;
    late_from_ = end_ + length_;
    for (Owner& each : owners_) {
        each.former = followed ? each.asked : 0;
        each.asked = each.got = 0;
    }
    std::erase_if(owners_, [](const Owner& each) { return each.former == 0; });
    ++serial_;
    end_ = window.end;
    length_ = window.length;
    stale_ = true;
}

FairShares::Owner* FairShares::OwnerTable::find(Hash128 owner) noexcept {
    const auto found =
        std::ranges::find_if(owners_, [&](const Owner& each) { return each.name == owner; });
    return found != owners_.end() ? &*found : nullptr;
}

// Water-filling: from the smallest demand up, each owner gets its demand or an equal part of the
// rest.
void FairShares::share_among(
    std::span<Owner> owners,
    std::uint64_t quota,
    std::uint64_t serial,
    std::uint64_t& level) noexcept {
    const std::size_t count = owners.size();
    if (count > most_exact) {
        for (Owner& each : owners)
            each.share = std::min(each.demand(quota), quota / count);
        return;
    }
    boost::container::static_vector<Owner*, most_exact> rising;
    for (Owner& each : owners)
        rising.push_back(&each);
    std::ranges::sort(rising, {}, [quota](const Owner* owner) { return owner->demand(quota); });
    std::uint64_t left = quota;
    std::size_t unmet = 0; // demands from here on are not met
    for (; unmet < count; ++unmet) {
        Owner& owner = *rising[unmet];
        if (owner.demand(quota) > left / (count - unmet))
            break;
        left -= owner.share = owner.demand(quota);
    }
    const std::span rest = std::span{rising.data(), count}.subspan(unmet);
    if (rest.empty())
        return;
    level = left / rest.size();
    for (Owner* const each : rest)
        each->share = level;
    // An owner that has already got one of the remaining units in this window keeps it.
    std::ranges::stable_sort(rest, {}, [serial](const Owner* owner) {
        return owner->extra == serial ? 0 : owner->extra;
    });
    for (Owner* const each : rest.first(left % rest.size()))
        ++each->share;
}

void FairShares::OwnerTable::share_out(std::uint64_t quota) noexcept {
    quota_ = quota;
    stale_ = false;
    share_among(owners_, quota, serial_, level_);
}

std::uint64_t FairShares::OwnerTable::kept_from(
    const Owner* asking, std::uint64_t quota, SteadyTime now) const noexcept {
    std::uint64_t kept = 0;
    for (const Owner& each : owners_) {
        if (&each == asking || each.share <= each.got)
            continue;
        const SteadyTime until = each.asked > 0 ? end_ : std::min(end_, late_from_);
        kept += std::min(each.share - each.got, expected(each.demand(quota), until - now, length_));
    }
    return std::min(kept, quota);
}

// Returns what kept_from() will return in the next window, if no owner asks before it.
std::uint64_t FairShares::OwnerTable::kept_in_next(
    Hash128 asking, std::uint64_t quota, SteadyTime now) const noexcept {
    boost::container::static_vector<Owner, most_exact> next;
    const auto come = static_cast<std::size_t>(
        std::ranges::count_if(owners_, [](const Owner& each) { return each.asked > 0; }));
    const Duration left = end_ + length_ - now;
    std::uint64_t kept = 0;
    for (const Owner& each : owners_) {
        Owner following{.name = each.name, .former = each.asked, .extra = each.extra};
        if (each.asked == 0)
            continue;
        if (come <= most_exact)
            next.push_back(following);
        else if (each.name != asking)
            kept += std::min(
                std::min(following.demand(quota), quota / come),
                expected(following.demand(quota), left, length_));
    }
    std::uint64_t level = 0;
    share_among({next.data(), next.size()}, quota, serial_ + 1, level);
    for (const Owner& each : next)
        if (each.name != asking)
            kept += std::min(each.share, expected(each.demand(quota), left, length_));
    return std::min(kept, quota);
}

SteadyTime FairShares::OwnerTable::opens_at(
    Hash128 owner,
    std::uint64_t cost,
    std::uint64_t quota,
    std::uint64_t remaining,
    SteadyTime window_end,
    SteadyTime from) const noexcept {
    if (cost <= remaining && from < end_) {
        const auto asking = std::ranges::find(owners_, owner, &Owner::name);
        const Owner* const known = asking != owners_.end() ? &*asking : nullptr;
        return kept_from(known, quota, from) <= remaining - cost
                   ? from
                   : std::max(from, end_ - length_ / last_part);
    }
    const SteadyTime next = std::max(from, cost <= remaining ? end_ : window_end);
    return kept_in_next(owner, quota, next) <= quota - std::min(cost, quota)
               ? next
               : std::max(next, end_ + length_ - length_ / last_part);
}

std::uint64_t FairShares::OwnerTable::ask(
    Hash128 owner,
    std::uint64_t cost,
    std::uint64_t quota,
    const Window& window,
    SteadyTime now,
    bool room) {
    turn_to(window, now);
    Owner* asking = find(owner);
    if (asking == nullptr && room && owners_.size() < most_owners) {
        asking = &owners_.emplace_back();
        asking->name = owner;
        stale_ = true;
    }
    if (asking != nullptr) {
        const std::uint64_t demand = asking->demand(quota);
        asking->asked += std::min(cost, quota - std::min(quota, asking->asked));
        stale_ = stale_ || asking->demand(quota) != demand;
    }
    if (owners_.size() == (asking != nullptr ? 1 : 0))
        return 0;
    if (stale_ || quota_ != quota)
        share_out(quota);
    return kept_from(asking, quota, now);
}

void FairShares::OwnerTable::granted(Hash128 owner, std::uint64_t cost, SteadyTime end) noexcept {
    if (end > end_)
        end_ = end;
    Owner* const found = find(owner);
    if (found == nullptr)
        return;
    found->got += cost;
    if (found->got > level_)
        found->extra = serial_;
}

std::uint64_t FairShares::ask(
    const Counter& counter,
    Hash128 owner,
    std::uint64_t cost,
    std::uint64_t quota,
    const Window& window,
    SteadyTime now) noexcept try {
    Shard& shard = shard_of(counter);
    const std::scoped_lock lock{shard.mutex};
    OwnerTable* const book = book_of(shard, counter, now);
    if (book == nullptr)
        return 0;
    const std::size_t before = book->size();
    const bool room = shard.owners < most_owners_in_all / shard_count;
    const std::uint64_t kept = book->ask(owner, cost, quota, window, now, room);
    shard.owners += book->size() - before; // modulo 2^64: the table may have shrunk
    return kept;
} catch (const std::bad_alloc&) {
    return 0;
}

SteadyTime FairShares::opens_at(
    const Counter& counter,
    Hash128 owner,
    std::uint64_t cost,
    std::uint64_t quota,
    std::uint64_t remaining,
    const Window& window,
    SteadyTime from) noexcept {
    Shard& shard = shard_of(counter);
    const std::scoped_lock lock{shard.mutex};
    const auto book = shard.books.find(counter);
    if (book != shard.books.end())
        return book->second.opens_at(owner, cost, quota, remaining, window.end, from);
    return cost <= remaining ? from : std::max(from, window.end);
}

void FairShares::granted(
    const Counter& counter, Hash128 owner, std::uint64_t cost, SteadyTime end) noexcept {
    Shard& shard = shard_of(counter);
    const std::scoped_lock lock{shard.mutex};
    const auto book = shard.books.find(counter);
    if (book != shard.books.end())
        book->second.granted(owner, cost, end);
}

FairShares::Shard& FairShares::shard_of(const Counter& counter) noexcept {
    return shards_[Spread{}(counter) % shard_count];
}

FairShares::OwnerTable* FairShares::book_of(Shard& shard, const Counter& counter, SteadyTime now) {
    const auto found = shard.books.find(counter);
    if (found != shard.books.end())
        return &found->second;
    const auto full = [&shard] {
        return shard.books.size() >= most_counters / shard_count ||
               shard.owners >= most_owners_in_all / shard_count;
    };
    if (full())
        forget_idle(shard, now);
    return full() ? nullptr : &shard.books[counter];
}

void FairShares::forget_idle(Shard& shard, SteadyTime now) noexcept {
    if (now < shard.next_look)
        return;
    shard.next_look = now + between_looks;
    for (auto book = shard.books.begin(); book != shard.books.end();) {
        const bool idle = book->second.is_idle(now);
        shard.owners -= idle ? book->second.size() : 0;
        book = idle ? shard.books.erase(book) : std::next(book);
    }
}

} // namespace stint::limits
