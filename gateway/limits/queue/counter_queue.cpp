#include "limits/queue/counter_queue.hpp"

#include <algorithm>
#include <limits>
#include <new>

namespace stint::limits {

namespace {

constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

RefillRate openings_of(const Charge& charge, std::uint64_t quota) noexcept {
    const LimitIdentity& limit = charge.limit->identity();
    if (limit.algorithm == Algorithm::concurrency)
        return {};
    quota = std::max<std::uint64_t>(quota, 1);
    if (!charge.pace && limit.algorithm != Algorithm::token_bucket)
        return {quota, std::max(limit.per, Duration{1})};
    return {1, std::max(limit.per / static_cast<std::int64_t>(quota), Duration{1})};
}

// Returns the cost that the first opening admits. A limit that refills evenly opens as soon as it
// has the cost of the refused waiter.
std::uint64_t admitted_at_first(const RefillRate& rate, std::uint64_t opens_for) noexcept {
    return rate.each == 1 ? opens_for : rate.each;
}

} // namespace

CounterQueue::CounterQueue(CounterId id, const Charge& charge)
    : id_{id}, refill_rate_{openings_of(charge, charge.quota)} {}

std::uint64_t CounterQueue::places_until(SteadyTime deadline, const Now& now) const noexcept {
    if (is_cap())
        return unbounded;
    const SteadyTime first = std::max(opens_at_, now.steady);
    if (deadline < first)
        return 0;
    const RefillRate& rate = refill_rate_;
    const auto count = static_cast<std::uint64_t>((deadline - first) / rate.every);
    const std::uint64_t at_first = admitted_at_first(rate, opens_for_);
    return count > (unbounded - at_first) / rate.each ? unbounded : at_first + count * rate.each;
}

Duration CounterQueue::time_until(std::uint64_t cost, const Now& now) const noexcept {
    if (is_cap()) // a slot is freed about every `wait_`
        return id_.limit->full_for(0, now.steady) +
               wait_ * static_cast<std::int64_t>(std::min<std::uint64_t>(cost, 1'000'000));
    const RefillRate& rate = refill_rate_;
    const Duration first = std::max(opens_at_, now.steady) - now.steady;
    const auto most = static_cast<std::uint64_t>((Duration::max() - first) / rate.every);
    const std::uint64_t later = cost - std::min(cost, admitted_at_first(rate, opens_for_));
    const std::uint64_t count = std::min((later + rate.each - 1) / rate.each, most);
    return first + rate.every * static_cast<std::int64_t>(count);
}

// Puts a newcomer into the queue while its place is computed. The destructor restores the queue.
class CounterQueue::Trial {
  public:
    Trial(CounterQueue& queue, Waiter& newcomer, std::size_t at, const Now& now)
        : before{queue.stand(newcomer, at, now)}, queue_{queue}, newcomer_{newcomer} {}
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    ~Trial() {
        queue_.deadlines_.erase(queue_.deadlines_.iterator_to(newcomer_));
        queue_.queue_.undo_push(newcomer_, before.costs);
        queue_.refill_rate_ = before.refill_rate;
    }

    const Before before;

    // Returns the time until the newcomer's turn. pushed_out: waiters that lose their place to the
    // newcomer.
    [[nodiscard]] Duration wait(const Waiters& pushed_out, const Now& now) const {
        std::uint64_t until = 0;
        queue_.queue_.for_each_in_order([&](const FairQueue::Item& item, std::uint64_t cost) {
            const auto& waiter = static_cast<const Waiter&>(item);
            const bool leaves = !pushed_out.empty() && &pushed_out.front() == &waiter;
            until += leaves ? 0 : cost; // other losers are behind the newcomer
            return &waiter != &newcomer_;
        });
        return queue_.time_until(until, now);
    }

  private:
    CounterQueue& queue_;
    Waiter& newcomer_;
};

CounterQueue::Place CounterQueue::preview(Waiter& newcomer, std::size_t at, const Now& now) {
    const Trial trial{*this, newcomer, at, now};
    const bool waits = newcomer.deadline_ > now.steady;
    Waiters out = losers(newcomer, trial.before, now);
    const bool free = waits && (out.empty() || &out.front() != &newcomer);
    const Duration wait = free ? trial.wait(out, now) : time_until(queue_.cost(), now);
    out.clear();
    return {free, wait};
}

void CounterQueue::join(Waiter& waiter, std::size_t at, const Now& now, Waiters& refused) {
    const Before before = stand(waiter, at, now);
    waiter.line_ = this;
    waiter.waited_for = at;
    waiter.state_ = Waiter::State::standing;
    id_.limit->add_waiting(1);
    Waiters out = losers(waiter, before, now);
    out.clear_and_dispose([&](Waiter* each) { refuse(*each, refused); });
}

CounterQueue::Before CounterQueue::stand(Waiter& newcomer, std::size_t at, const Now& now) {
    const Charge& charge = newcomer.charges[at];
    const WaitTerms& terms = newcomer.terms[at];
    Before before{
        .standing = queue_.standing(terms.flow, charge.cost, newcomer.arrival_),
        .full = queue_.size() >= terms.max_waiting,
        .costs = {},
        .refill_rate = refill_rate_};
    before.costs = queue_.push(newcomer, terms.flow, charge.cost, newcomer.arrival_);
    deadlines_.insert(newcomer);
    refill_rate_ = openings_of(charge, numbers_of(charge, now).quota);
    return before;
}

Waiters CounterQueue::losers(Waiter& newcomer, const Before& before, const Now& now) noexcept {
    using Standing = FairQueue::Standing;
    const bool waits = newcomer.deadline_ > now.steady;
    Waiters out;
    Waiter* one_too_many = nullptr;
    if (before.full && waits && before.standing == Standing::lighter)
        one_too_many = &static_cast<Waiter&>(queue_.last());
    if (!newcomer.may_wait || (before.full && one_too_many == nullptr)) {
        out.push_back(newcomer);
    } else if (queue_.cost() <= places_until(deadlines_.begin()->deadline_, now)) {
        if (one_too_many != nullptr)
            out.push_back(*one_too_many);
    } else if (before.standing != Standing::last) {
        out = losers_of_walk(newcomer, one_too_many, now);
    } else if (queue_.cost() > places_until(newcomer.deadline_, now)) {
        out.push_back(newcomer);
    }
    return out;
}

// The newcomer gets no place if, with every waiter before it served first, its turn comes after the
// last opening before its deadline. Otherwise `one_too_many`, if set, loses its place. So does each
// waiter behind the newcomer whose turn now comes after its last opening.
Waiters
CounterQueue::losers_of_walk(Waiter& newcomer, Waiter* one_too_many, const Now& now) noexcept {
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
        // Without memory for the walk, waiters that come too late are refused at their deadline.
        if (one_too_many != nullptr)
            late.push_back(newcomer);
        return late;
    }
    const bool has_place = late.empty() || &late.front() != &newcomer;
    if (one_too_many != nullptr && has_place)
        late.push_front(*one_too_many);
    return late;
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
    id_.limit->add_waiting(-1);
}

void CounterQueue::opens_after(Duration wait, const Waiter& refused, const Now& now) noexcept {
    opens_after(wait, refused.charges[refused.waited_for].cost, now);
    told_arrival_ = refused.arrival_;
}

void CounterQueue::opens_after(Duration wait, std::uint64_t cost, const Now& now) noexcept {
    opens_for_ = cost;
    if (is_cap())
        wait -= id_.limit->full_for(0, now.steady);
    wait_ = std::max(wait, Duration{1}); // at 0, open() would retry without end
    opens_at_ = is_cap() ? SteadyTime::max() : now.steady + wait_;
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

void CounterQueue::update_quota(
    const Limit& limit, const NumbersOf& numbers, std::optional<bool> enforce) noexcept {
    for (Waiter& waiter : deadlines_)
        for (std::size_t i = 0; i < waiter.charges.size(); ++i)
            if (Charge& charge = waiter.charges[i]; charge.limit == &limit) {
                const Numbers now = numbers(waiter.terms[i].key);
                charge.quota = now.quota;
                charge.burst = now.burst;
                charge.enforce = enforce.value_or(charge.enforce);
            }
    if (id_.limit != &limit || empty())
        return;
    const Charge& charge = front().charges[front().waited_for];
    refill_rate_ = openings_of(charge, charge.quota);
}

void CounterQueue::take_up_share(const Now& now) noexcept {
    const auto share = empty() ? std::nullopt : id_.limit->share(id_.key, now).numbers;
    if (!share)
        return;
    const auto& first = static_cast<const Waiter&>(queue_.next());
    const Charge& charge = first.charges[first.waited_for];
    refill_rate_ = openings_of(charge, std::min(charge.quota, share->quota));
}

} // namespace stint::limits
