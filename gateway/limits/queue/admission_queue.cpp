#include "limits/queue/admission_queue.hpp"

#include <cassert>
#include <new>
#include <utility>

namespace stint::limits {

AdmissionQueue::~AdmissionQueue() {
    assert(lines_.empty());
}

AdmissionQueue::Entered AdmissionQueue::enter(Waiter& waiter, const Now& now) {
    const std::lock_guard lock{mutex_};
    assert(waiter.state_ == Waiter::State::outside);
    // Counts the waiter before the attempt, so that every later refund or freed slot notifies this
    // queue.
    take_in(waiter);
    waiter.arrival_ = ++arrivals_;
    for (Charge& charge : waiter.charges)
        charge.refundable = true; // so that leave() can undo an admission not collected yet
    try {
        std::optional<Duration> asked;
        auto [line, at] = line_to_join(waiter.charges, waiter.terms, now);
        if (line == nullptr) {
            Decision decision = try_admit(waiter.charges, now);
            if (decision.allowed() || !may_wait(waiter.terms, decision)) {
                let_out(waiter);
                if (!decision.allowed())
                    count_refusal(waiter.charges, decision);
                waiter.decision = std::move(decision);
                return waiter.decision.allowed() ? Entered::admitted : Entered::refused;
            }
            at = decision.refused_by;
            line = &line_of(waiter.charges[at]);
            asked = decision.retry_after;
        }
        const bool waited = waiter.waiting_since != SteadyTime{};
        waiter.deadline_ = (waited ? waiter.waiting_since : now.steady) + waiter.terms[at].max_wait;
        stand_in(*line, waiter, at, asked, now);
    } catch (...) {
        let_out(waiter);
        throw;
    }
    const bool refused = waiter.state_ == Waiter::State::decided;
    if (refused) { // enter() returns the refusal itself: nothing for the mailbox
        waiter.InMailbox::unlink();
        waiter.state_ = Waiter::State::outside;
    }
    announce();
    ring_all();
    return refused ? Entered::refused : Entered::waiting;
}

void AdmissionQueue::leave(Waiter& waiter, const Now& now) noexcept {
    auto [granted, news] = take_out(waiter);
    // Refunded without the lock, since that notifies this queue.
    for (std::size_t i = 0; i < waiter.charges.size(); ++i)
        granted.refund(i, now);
    if (news)
        scheduler_.run_now();
}

std::pair<Permit, bool> AdmissionQueue::take_out(Waiter& waiter) noexcept {
    Permit granted;
    bool news = false;
    const std::lock_guard lock{mutex_};
    if (waiter.state_ == Waiter::State::standing) {
        CounterQueue& line = *waiter.line_;
        unfile(line);
        line.remove(waiter);
        let_out(waiter);
        file(line);
        news = is_news();
    } else if (waiter.state_ == Waiter::State::decided) {
        waiter.InMailbox::unlink();
        granted = std::move(waiter.decision.permit);
    }
    waiter.state_ = Waiter::State::outside;
    return {std::move(granted), news};
}

SteadyTime AdmissionQueue::open(const Now& now) noexcept {
    const std::lock_guard lock{mutex_};
    while (!by_due_.empty() && by_due_.begin()->filed_for <= now.steady) {
        CounterQueue& line = *by_due_.begin();
        unfile(line);
        line.take_up_share(now);
        if (line.is_open(now))
            serve(line, now);
        Waiters refused;
        line.expire(now, refused);
        refuse_all(refused, line, now);
        file(line);
    }
    ring_all();
    announced_ = by_due_.empty() ? SteadyTime::max() : by_due_.begin()->filed_for;
    return announced_;
}

// Admits waiters in order until the counter refuses. A waiter that another limit refuses does not
// block the others.
void AdmissionQueue::serve(CounterQueue& line, const Now& now) noexcept {
    while (!line.empty()) {
        Waiter& waiter = line.front();
        const std::size_t at = waiter.waited_for;
        if (const Occupied other = occupied_line(waiter.charges, waiter.terms, at + 1);
            other.line != nullptr) {
            line.remove(waiter);
            waiter.waited_for = other.charge;
            move_on(waiter, now);
            continue;
        }
        Decision decision;
        waiter.charges[at].late = line.late(now);
        try {
            decision = try_admit(waiter.charges, now);
        } catch (const std::bad_alloc&) {
            return line.opens_after(Duration{std::chrono::milliseconds{1}}, waiter, now);
        }
        if (decision.allowed()) {
            line.pop_front();
            decide(waiter, std::move(decision));
        } else if (!may_wait(waiter.terms, decision)) {
            line.remove(waiter);
            refuse(waiter, std::move(decision));
        } else if (decision.refused_by == at) {
            return line.opens_after(decision.retry_after, waiter, now);
        } else {
            line.remove(waiter);
            waiter.decision = std::move(decision);
            waiter.waited_for = waiter.decision.refused_by;
            move_on(waiter, now);
        }
    }
}

// Moves a waiter to the queue of waiter.waited_for; its deadline stays.
void AdmissionQueue::move_on(Waiter& waiter, const Now& now) noexcept {
    Decision refusal = std::move(waiter.decision);
    waiter.decision = {};
    const std::size_t at = waiter.waited_for;
    std::optional<Duration> asked;
    if (!refusal.allowed())
        asked = refusal.retry_after;
    try {
        stand_in(line_of(waiter.charges[at]), waiter, at, asked, now);
    } catch (const std::bad_alloc&) {
        refusal.refusal = Refusal::window;
        refusal.refused_by = at;
        refuse(waiter, std::move(refusal));
    }
}

AdmissionQueue::Occupied AdmissionQueue::line_to_join(
    std::span<const Charge> charges, std::span<const WaitTerms> terms, const Now& now) {
    return affordable(charges, now) ? occupied_line(charges, terms, 0) : Occupied{};
}

AdmissionQueue::Occupied AdmissionQueue::occupied_line(
    std::span<const Charge> charges, std::span<const WaitTerms> terms, std::size_t from) noexcept {
    for (std::size_t i = from; i < charges.size(); ++i) {
        if (!terms[i].waits)
            continue;
        const auto found = lines_.find(CounterId::of(*charges[i].limit, charges[i].key));
        if (found != lines_.end())
            return {&found->second, i};
    }
    return {};
}

bool AdmissionQueue::may_wait(std::span<const WaitTerms> terms, const Decision& refused) noexcept {
    return terms[refused.refused_by].waits && refused.refusal != Refusal::table_full &&
           refused.refusal != Refusal::cost;
}

CounterQueue& AdmissionQueue::line_of(const Charge& charge) {
    const CounterId id = CounterId::of(*charge.limit, charge.key);
    return lines_.try_emplace(id, id, charge).first->second;
}

void AdmissionQueue::stand_in(
    CounterQueue& line,
    Waiter& waiter,
    std::size_t at,
    std::optional<Duration> refused_for,
    const Now& now) {
    for (Charge& charge : waiter.charges) {
        // A waiter may use the whole quota, also the part reserved for other keys: the queue itself
        // is fair, and the waiter may be admitted in a later window.
        charge.reserved_for_others = 0;
        charge.late = {};
    }
    waiter.waited_for = at;
    unfile(line);
    Waiters refused;
    if (line.empty() && refused_for)
        line.opens_after(*refused_for, waiter, now);
    try {
        line.join(waiter, at, now, refused);
    } catch (...) {
        file(line);
        throw;
    }
    refuse_all(refused, line, now);
    // A waiter that moves here from another queue may come before the present ones.
    if (refused_for && line.is_next(waiter))
        line.opens_after(*refused_for, waiter, now);
    file(line);
}

void AdmissionQueue::refuse_all(
    Waiters& refused, const CounterQueue& line, const Now& now) noexcept {
    refused.clear_and_dispose([&](Waiter* waiter) {
        const std::size_t at = waiter->waited_for;
        refuse(
            *waiter, without_place(line, at, line.wait_behind_all(waiter->charges[at].cost, now)));
    });
}

Decision
AdmissionQueue::without_place(const CounterQueue& line, std::size_t at, Duration wait) noexcept {
    const bool cap = line.id().limit->identity().algorithm == Algorithm::concurrency;
    Decision decision;
    decision.refusal = cap ? Refusal::cap : Refusal::window;
    decision.refused_by = at;
    decision.retry_after = wait;
    return decision;
}

void AdmissionQueue::refuse(Waiter& waiter, Decision decision) noexcept {
    count_refusal(waiter.charges, decision);
    decide(waiter, std::move(decision));
}

void AdmissionQueue::decide(Waiter& waiter, Decision decision) noexcept {
    let_out(waiter);
    waiter.decision = std::move(decision);
    waiter.state_ = Waiter::State::decided;
    Mailbox& mailbox = waiter.mailbox_;
    mailbox.decided_.push_back(waiter);
    if (!mailbox.rung_ && !mailbox.is_linked())
        to_ring_.push_back(mailbox);
}

void AdmissionQueue::collect(Mailbox& mailbox, Waiters& into) noexcept {
    const std::lock_guard lock{mutex_};
    mailbox.rung_ = false;
    for (Waiter& waiter : mailbox.decided_)
        waiter.state_ = Waiter::State::outside;
    into.splice(into.end(), mailbox.decided_);
}

void AdmissionQueue::freed(Limit& limit, Hash128 key) noexcept {
    {
        const std::lock_guard lock{mutex_};
        const auto found = lines_.find(CounterId::of(limit, key));
        if (found == lines_.end())
            return;
        unfile(found->second);
        found->second.open_now();
        file(found->second);
        if (!is_news())
            return;
    }
    scheduler_.run_now();
}

void AdmissionQueue::update_quota(
    Limit& limit, const NumbersOf& numbers, std::optional<bool> enforce) noexcept {
    const std::lock_guard lock{mutex_};
    for (auto& [id, line] : lines_) {
        line.update_quota(limit, numbers, enforce);
        if (id.limit != &limit)
            continue;
        unfile(line);
        line.open_now();
        file(line);
    }
    announce();
}

void AdmissionQueue::file(CounterQueue& line) noexcept {
    if (line.empty()) {
        lines_.erase(CounterId{line.id()});
        return;
    }
    line.open_to_new_front();
    line.filed_for = line.due();
    by_due_.insert(line);
}

void AdmissionQueue::unfile(CounterQueue& line) noexcept {
    if (line.is_linked())
        by_due_.erase(by_due_.iterator_to(line));
}

void AdmissionQueue::take_in(Waiter& waiter) noexcept {
    for (std::size_t i = 0; i < waiter.charges.size(); ++i) {
        if (!waiter.terms[i].waits)
            continue;
        Limit& limit = *waiter.charges[i].limit;
        limit.room_.store(this, std::memory_order_relaxed);
        limit.awaited_.fetch_add(1, std::memory_order_release);
    }
}

void AdmissionQueue::let_out(Waiter& waiter) noexcept {
    for (std::size_t i = 0; i < waiter.charges.size(); ++i)
        if (waiter.terms[i].waits)
            waiter.charges[i].limit->awaited_.fetch_sub(1, std::memory_order_relaxed);
}

void AdmissionQueue::announce() noexcept {
    if (is_news())
        scheduler_.schedule(announced_);
}

// Returns true if a queue is due earlier than announced_, and then sets announced_ to that time.
bool AdmissionQueue::is_news() noexcept {
    if (by_due_.empty() || by_due_.begin()->filed_for >= announced_)
        return false;
    announced_ = by_due_.begin()->filed_for;
    return true;
}

void AdmissionQueue::ring_all() noexcept {
    to_ring_.clear_and_dispose([](Mailbox* mailbox) {
        if (mailbox->decided_.empty())
            return; // its waiters have left since they were decided
        mailbox->rung_ = true;
        mailbox->notify();
    });
}

} // namespace stint::limits
