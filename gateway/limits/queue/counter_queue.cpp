#include "limits/queue/counter_queue.hpp"

#include <algorithm>
#include <limits>
#include <new>

namespace stint::limits {

namespace {

constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

RefillRate openings_of(const Charge& charge) noexcept {
    const LimitIdentity& limit = charge.limit->identity();
    if (limit.algorithm == Algorithm::concurrency)
        return {};
    const std::uint64_t quota = std::max<std::uint64_t>(charge.quota, 1);
    if (!charge.pace && limit.algorithm != Algorithm::token_bucket)
        return {quota, std::max(limit.per, Duration{1})};
    return {1, std::max(limit.per / static_cast<std::int64_t>(quota), Duration{1})};
}

} // namespace

CounterQueue::CounterQueue(CounterId id, const Charge& charge)
    : id_{id}, refill_rate_{openings_of(charge)} {}

std::uint64_t CounterQueue::places_until(SteadyTime deadline, const Now& now) const noexcept {
    if (is_cap())
        return unbounded;
    const SteadyTime first = std::max(opens_at_, now.steady);
    if (deadline < first)
        return 0;
    const auto count = static_cast<std::uint64_t>((deadline - first) / refill_rate_.every) + 1;
    return count > unbounded / refill_rate_.each ? unbounded : count * refill_rate_.each;
}

Duration CounterQueue::wait_behind_all(std::uint64_t cost, const Now& now) const noexcept {
    const std::uint64_t ahead = queue_.cost();
    if (is_cap()) // a slot is freed about every `wait_`
        return id_.limit->full_for(0, now.steady) +
               wait_ * static_cast<std::int64_t>(std::min<std::uint64_t>(ahead + cost, 1'000'000));
    const Duration first = std::max(opens_at_, now.steady) - now.steady;
    const auto most = static_cast<std::uint64_t>((Duration::max() - first) / refill_rate_.every);
    const std::uint64_t count = std::min((ahead + cost - 1) / refill_rate_.each, most);
    return first + refill_rate_.every * static_cast<std::int64_t>(count);
}

void CounterQueue::join(Waiter& waiter, std::size_t at, const Now& now, Waiters& refused) {
    const WaitTerms& terms = waiter.terms[at];
    const std::uint64_t cost = waiter.charges[at].cost;
    const FairQueue::Standing standing = queue_.standing(terms.flow, cost, waiter.arrival_);
    queue_.push(waiter, terms.flow, cost, waiter.arrival_);
    deadlines_.insert(waiter);
    waiter.line_ = this;
    waiter.waited_for = at;
    waiter.state_ = Waiter::State::standing;
    id_.limit->waiting_.fetch_add(1, std::memory_order_relaxed);
    refill_rate_ = openings_of(waiter.charges[at]);
    Waiter* one_too_many = nullptr;
    if (queue_.size() > terms.max_waiting) {
        const bool waits = waiter.deadline_ > now.steady;
        if (!waits || standing != FairQueue::Standing::lighter)
            return refuse(waiter, refused);
        one_too_many = &static_cast<Waiter&>(queue_.last());
    }
    if (queue_.cost() <= places_until(deadlines_.begin()->deadline_, now)) {
        if (one_too_many != nullptr)
            refuse(*one_too_many, refused);
        return;
    }
    if (standing != FairQueue::Standing::last)
        make_place(waiter, one_too_many, now, refused);
    else if (queue_.cost() > places_until(waiter.deadline_, now)) // it stands behind all others
        refuse(waiter, refused);
}

// Refuses the newcomer, if its turn comes after the last opening before its deadline when every
// waiter before it goes first; otherwise the one too many, and those behind the newcomer to whom
// that has now happened.
void CounterQueue::make_place(
    Waiter& newcomer, Waiter* one_too_many, const Now& now, Waiters& refused) noexcept {
    Waiters late;
    std::uint64_t ahead = 0;
    bool passed = false;
    const auto visit = [&](FairQueue::Item& item, std::uint64_t cost) {
        Waiter& waiter = static_cast<Waiter&>(item);
        if (&waiter == one_too_many)
            return true;
        const bool itself = &waiter == &newcomer;
        passed = passed || itself;
        if (passed && ahead + cost > places_until(waiter.deadline_, now))
            late.push_back(waiter);
        else
            ahead += cost;
        return !itself || (late.empty() && newcomer.deadline_ > now.steady);
    };
    try {
        queue_.for_each_in_order(visit);
    } catch (const std::bad_alloc&) {
        // No memory to find out: those behind it are refused when their deadline comes.
        if (one_too_many != nullptr)
            return refuse(newcomer, refused);
    }
    const bool has_place = late.empty() || &late.front() != &newcomer;
    if (one_too_many != nullptr && has_place)
        refuse(*one_too_many, refused);
    late.clear_and_dispose([&](Waiter* waiter) { refuse(*waiter, refused); });
}

void CounterQueue::refuse(Waiter& waiter, Waiters& refused) noexcept {
    remove(waiter);
    refused.push_back(waiter);
}

void CounterQueue::remove(Waiter& waiter) noexcept {
    queue_.erase(waiter);
    sign_off(waiter);
}

void CounterQueue::pop_front() noexcept {
    Waiter& waiter = front();
    queue_.pop_front();
    sign_off(waiter);
}

void CounterQueue::sign_off(Waiter& waiter) noexcept {
    deadlines_.erase(deadlines_.iterator_to(waiter));
    waiter.line_ = nullptr;
    waiter.state_ = Waiter::State::outside;
    id_.limit->waiting_.fetch_sub(1, std::memory_order_relaxed);
}

void CounterQueue::opens_after(Duration wait, const Waiter& refused, const Now& now) noexcept {
    if (is_cap())
        wait -= id_.limit->full_for(0, now.steady);
    wait_ = std::max(wait, Duration{1}); // an instant that has come already would never pass
    opens_at_ = is_cap() ? SteadyTime::max() : now.steady + wait_;
    told_arrival_ = refused.arrival_;
}

void CounterQueue::open_to_new_front() noexcept {
    if (!empty() && static_cast<const Waiter&>(queue_.next()).arrival_ != told_arrival_)
        open_now();
}

void CounterQueue::expire(const Now& now, Waiters& refused) noexcept {
    while (!deadlines_.empty() && deadlines_.begin()->deadline_ <= now.steady) {
        Waiter& late = *deadlines_.begin();
        const bool first = is_next(late);
        refuse(late, refused);
        if (first)
            return;
    }
}

SteadyTime CounterQueue::due() const noexcept {
    return empty() ? SteadyTime::min() : std::min(opens_at_, deadlines_.begin()->deadline_);
}

Duration CounterQueue::late(const Now& now) const noexcept {
    if (opens_at_ == SteadyTime::min() || opens_at_ > now.steady)
        return Duration::zero();
    const Duration since = now.steady - opens_at_;
    if (since < refill_rate_.every)
        return since;
    return id_.limit->keyed() ? Duration::zero() : refill_rate_.every;
}

void CounterQueue::update_quota(const Limit& limit, const NumbersOf& numbers) noexcept {
    for (Waiter& waiter : deadlines_)
        for (std::size_t i = 0; i < waiter.charges.size(); ++i)
            if (Charge& charge = waiter.charges[i]; charge.limit == &limit) {
                const Numbers now = numbers(waiter.terms[i].key);
                charge.quota = now.quota;
                charge.burst = now.burst;
            }
    if (id_.limit == &limit && !empty())
        refill_rate_ = openings_of(front().charges[front().waited_for]);
}

} // namespace stint::limits
