#include "permits/acquire_operation.hpp"

#include "limits/reservation/reservations.hpp"
#include "net/clock.hpp"
#include "proxy/admission/worker_callbacks.hpp"

#include <algorithm>
#include <utility>

namespace stint::permits {
namespace {

// The most requests queued per counter, for a limit that does not configure its queue.
constexpr std::uint64_t most_waiting = 1000;
// Attempts to take a batch. An attempt fails if other requests have taken permits from the window
// meanwhile; the next one asks for the new remainder.
constexpr int batch_attempts = 4;

limits::FairShares::Counter counter_of(const limits::Charge& charge) noexcept {
    return {charge.limit->ordinal(), charge.limit->keyed() ? charge.key : Hash128{}};
}

// Returns the quota that the owners share: the limit's, or this process's share of it if that is
// lower.
std::uint64_t quota_of(const limits::Charge& charge, const Now& now) noexcept {
    return limits::numbers_of(charge, now).quota;
}

limits::FairShares::Window window_of(const limits::Charge& charge, const Now& now) {
    return {charge.limit->window_end(charge, now), charge.limit->identity().per};
}

} // namespace

AcquireOperation::AcquireOperation(
    proxy::Context& context, Shared& shared, const routing::ClientAddress& peer)
    : context_{context}, shared_{shared}, peer_{peer}, config_{context.active},
      now_{net::read_clocks()}, limits_{context, *config_, shared, peer, reply_}, shared_wait_{
                                                                                      context} {}

AcquireOperation::Step AcquireOperation::begin(const AcquireRequest& ask) {
    owner_ = ask.owner.empty() ? peer_.network_hash() : context_.shared().hasher(ask.owner);
    listed_ = ask.listed;
    ticket_ = ask.ticket;
    batch_ = ask.batch;
    status_ = limits_.find(ask, now_.steady);
    if (status_ != 200 || !claim_once(ask) || !is_open())
        return Step::answered;
    if (limits_.charges().charges.empty()) {
        grant_.count = batch_; // every limit is read at cost 0 or exempt
        grant();
        return Step::answered;
    }
    return admit(ask);
}

bool AcquireOperation::reserves() const noexcept {
    return std::ranges::any_of(
        limits_.charges().limits, [](const auto& limit) { return !limit->reserve_for.empty(); });
}

// Admits at once unless a request waits: a new request never overtakes a waiter.
AcquireOperation::Step AcquireOperation::admit(const AcquireRequest& ask) {
    if (context_.shared_charges != nullptr) [[unlikely]] {
        shared_charges_ = limits_.take_shared(shared_wait_);
        if (limits_.charges().charges.empty()) {
            limits::Permit none;
            return ask_store(none);
        }
    }
    if (!reserves()) [[likely]]
        keep_shares(ask);
    const bool awaited = std::ranges::any_of(
        limits_.charges().limits, [](const auto& limit) { return limit->limit->awaited(); });
    if (!awaited || reserves()) [[likely]] {
        limits::Decision decision = admit_now(ask);
        const bool waits = !decision.allowed() && ask.wait > Duration::zero() && !reserves() &&
                           decision.refusal != limits::Refusal::cost;
        if (!waits) {
            if (!decision.allowed() && !reserves())
                limits::count_refusal(limits_.charges().view(), decision);
            return settle(decision);
        }
    }
    line_up(ask);
    if (queued_->queue().enter(*queued_, now_) == limits::AdmissionQueue::Entered::waiting)
        return Step::waits;
    const std::unique_ptr<proxy::QueuedRequest> queued = std::move(queued_);
    return settle(queued->decision);
}

// Withholds the fair shares that other owners have not used yet, if this request does not wait. A
// request that waits joins the queue, which is fair by itself.
void AcquireOperation::keep_shares(const AcquireRequest& ask) {
    shares_ = ask.wait == Duration::zero();
    for (limits::Charge& charge : limits_.charges().charges) {
        if (!is_fixed_window(*charge.limit))
            continue;
        const std::uint64_t kept = shared_.shares.ask(
            counter_of(charge), owner_, std::max(batch_, charge.cost), quota_of(charge, now_),
            window_of(charge, now_), now_.steady);
        charge.reserved_for_others = shares_ ? kept : 0;
    }
}

// Recomputes retry_after with fair shares: a limit's own estimate ignores the permits that are
// withheld for other owners. An owner is admitted at this time if no other owner comes back with
// it.
void AcquireOperation::tell_true_time(limits::Decision& decision) {
    const auto& charges = limits_.charges().charges;
    const auto by_window_alone = [&](std::size_t i) {
        return (decision.refusing >> i & 1U) == 0 ||
               (is_fixed_window(*charges[i].limit) && !charges[i].pace);
    };
    SteadyTime opens = now_.steady;
    for (std::size_t i = 0; i < charges.size(); ++i)
        if (!by_window_alone(i))
            opens = now_.steady + decision.retry_after;
    for (int pass = 0; pass < 2; ++pass) // a limit may open in an earlier limit's next window
        for (std::size_t i = 0; i < charges.size(); ++i) {
            const limits::Charge& charge = charges[i];
            if (!is_fixed_window(*charge.limit))
                continue;
            const limits::Charge plain{.key = charge.key, .quota = charge.quota};
            const std::uint64_t remaining = charge.limit->state_of(plain, now_).remaining;
            limits::FairShares::Window window = window_of(charge, now_);
            // A key in the overflow sketch of a full table has no window of its own: the limit's
            // refusal tells when the sketch admits it again, which may be before the window's end.
            if (remaining < charge.cost)
                window.end = std::min(window.end, now_.steady + decision.retry_after);
            const SteadyTime own = shared_.shares.opens_at(
                counter_of(charge), owner_, charge.cost, quota_of(charge, now_), remaining, window,
                opens);
            if (own > opens)
                decision.refused_by = i;
            opens = std::max(opens, own);
        }
    decision.retry_after = std::max<Duration>(opens - now_.steady, Duration{1});
}

void AcquireOperation::note_shares() noexcept {
    for (const limits::Charge& charge : limits_.charges().charges)
        if (is_fixed_window(*charge.limit))
            shared_.shares.granted(
                counter_of(charge), owner_, charge.cost, charge.limit->window_end(charge, now_));
}

limits::Decision AcquireOperation::admit_now(const AcquireRequest& ask) {
    if (reserves()) [[unlikely]]
        return admit_reserving();
    if (ask.batch > 0) [[unlikely]]
        return admit_batch(ask.batch);
    return limits::try_admit(limits_.charges().view(), now_);
}

// Takes as many permits as the window has left, at most `batch`. A paced limit grants one at a
// time.
limits::Decision AcquireOperation::admit_batch(std::uint64_t batch) {
    limits::Charge& charge = limits_.charges().charges.front();
    limits::Decision decision;
    for (int i = 0; i < batch_attempts; ++i) {
        const std::uint64_t left = charge.limit->state_of(charge, now_).remaining;
        charge.cost = charge.pace ? 1 : std::clamp<std::uint64_t>(left, 1, batch);
        decision = limits::try_admit(limits_.charges().view(), now_);
        if (decision.allowed() || charge.cost == 1)
            return decision;
    }
    charge.cost = 1;
    return limits::try_admit(limits_.charges().view(), now_);
}

// Admits the request, or reserves a future slot for its owner, which is to retry then.
limits::Decision AcquireOperation::admit_reserving() {
    boost::container::static_vector<limits::Reservation, limits::max_charges> reserving;
    for (std::size_t i = 0; i < limits_.charges().limits.size(); ++i)
        if (!limits_.charges().limits[i]->reserve_for.empty())
            reserving.push_back({.charge = i, .client = owner_});
    return limits::admit_reserving(
        {limits_.charges().charges.data(), limits_.charges().charges.size()},
        {reserving.data(), reserving.size()}, now_, {},
        shared_charges_ != nullptr ? &shared_charges_->slots() : nullptr);
}

void AcquireOperation::line_up(const AcquireRequest& ask) {
    queued_ = std::make_unique<proxy::QueuedRequest>(context_.wakeups);
    one_first_ = batch_ > 0;
    if (one_first_)
        limits_.charges().charges.front().cost = 1;
    for (limits::Charge& charge : limits_.charges().charges)
        charge.reserved_for_others = 0;
    queued_->charges.assign(limits_.charges().view().begin(), limits_.charges().view().end());
    queued_->asked = limits_.charges();
    for (std::size_t i = 0; i < limits_.charges().limits.size(); ++i) {
        const routing::LimitTerms& limit = *limits_.charges().limits[i].terms;
        limits::WaitTerms& terms = queued_->terms.emplace_back();
        terms.waits = true;
        terms.max_wait = ask.wait;
        terms.max_waiting = limit.wait ? limit.wait->max_waiting : most_waiting;
        terms.flow = owner_;
        if (const auto& key = ask.limits[limits_.part_of()[i]].key)
            terms.key = limit.key.canonical(*key);
    }
}

net::Task<> AcquireOperation::wait() {
    return queued_ ? queued_->wait() : shared_wait_.until_answered();
}

void AcquireOperation::give_up() noexcept {
    if (queued_)
        context_.wakeups.give_up(*queued_);
    else if (shared_wait_.is_begun())
        shared_wait_.give_up();
}

bool AcquireOperation::settle() {
    if (!queued_) {
        now_ = net::read_clocks();
        shared_wait_.end();
        return take_answer() == Step::answered;
    }
    const std::unique_ptr<proxy::QueuedRequest> queued = std::move(queued_);
    const Now before = now_;
    now_ = net::read_clocks();
    grant_.waited = now_.steady - before.steady;
    for (std::size_t i = 0; i < limits_.part_of().size(); ++i) { // a reload may change quotas
        const limits::Charge& counted = queued->charges[i];
        limits_.renumber(i, {counted.quota, counted.burst});
    }
    if (queued->decision.allowed())
        context_.counters.permit_waits.time.observe(grant_.waited);
    else
        ++context_.counters.permit_waits.refused;
    return settle(queued->decision) == Step::answered;
}

// Acts on the decision of the limits of this process: refuses, asks the store for the shared
// limits, or grants.
AcquireOperation::Step AcquireOperation::settle(limits::Decision& decision) {
    if (!decision.allowed()) {
        refuse(decision);
        return Step::answered;
    }
    if (decision.would_refuse != 0) [[unlikely]]
        proxy::note_dry_run(context_, *config_, limits_.charges(), decision);
    if (shared_charges_ != nullptr) [[unlikely]]
        return ask_store(decision.permit);
    const limits::Permit kept = std::move(decision.permit); // no refund: the charge stays
    note_shares();
    if (batch_ > 0)
        grant_.count = limits_.charges().charges.front().cost;
    if (one_first_ && batch_ > 1 && admit_batch(batch_ - 1).allowed()) {
        note_shares();
        grant_.count += limits_.charges().charges.front().cost;
    }
    grant();
    return Step::answered;
}

// Asks the store to charge the shared limits. own: the permit of the limits of this process.
AcquireOperation::Step AcquireOperation::ask_store(limits::Permit& own) {
    if (batch_ > 0 && batches_asked_++ == 0)
        shared_charges_->set_cost(batch_);
    return shared_charges_->ask(*context_.shared_charges, own, now_) ? take_answer() : Step::waits;
}

AcquireOperation::Step AcquireOperation::take_answer() {
    admission::SharedAdmission::Result result = shared_charges_->decide(now_);
    limits::Permit kept = std::move(result.decision.permit); // no refund: the charges stay
    if (!result.decision.allowed()) {
        if (lower_batch(result))
            return ask_store(kept);
        shared_charges_->give_up(now_);
        for (std::size_t i = 0; i < limits::max_charges; ++i)
            kept.refund(i, now_);
        limits::count_refusal(shared_charges_->charges().view(), result.decision);
        refuse(shared_charges_->charges(), result.decision);
        if (result.without_store) {
            reply_.blame_store(
                shared_charges_->charges().limits[result.decision.refused_by],
                result.decision.retry_after);
            status_ = 503;
        }
        return Step::answered;
    }
    if (result.decision.would_refuse != 0)
        proxy::note_dry_run(context_, *config_, shared_charges_->charges(), result.decision);
    shared_charges_->keep_slots();
    limits_.note(result);
    note_shares();
    if (batch_ > 0)
        grant_.count = shared_charges_->charges().charges.front().cost;
    grant();
    return Step::answered;
}

// Lowers the cost of a refused batch to the permits that the store reports as left. False if the
// refusal is final. A batch has exactly one limit.
bool AcquireOperation::lower_batch(const admission::SharedAdmission::Result& refused) noexcept {
    const limits::Charge& charge = shared_charges_->charges().charges.front();
    if (batch_ == 0 || charge.cost == 1 || refused.without_store)
        return false;
    const std::uint64_t left = refused.states.empty() || batches_asked_ > batch_attempts
                                   ? 1
                                   : refused.states.front().counter.remaining;
    shared_charges_->set_cost(
        charge.pace ? 1 : std::clamp<std::uint64_t>(left, 1, charge.cost - 1));
    return true;
}

void AcquireOperation::refuse(limits::Decision& decision) {
    if (shares_ && decision.refusal == limits::Refusal::window && decision.refusing != 0)
        tell_true_time(decision);
    refuse(limits_.charges(), decision);
}

void AcquireOperation::refuse(const routing::Charges& charges, const limits::Decision& decision) {
    const Duration retry_after = proxy::note_refusal(
        context_, *config_, charges.limits[decision.refused_by],
        charges.charges[decision.refused_by].key, decision.retry_after);
    reply_.refuse(charges, decision, retry_after);
    reply_.use_default_body();
    status_ = 429;
}

void AcquireOperation::fail(int status, std::initializer_list<std::string_view> detail) {
    std::string text;
    for (const std::string_view part : detail)
        text.append(part);
    reply_.explain(std::move(text));
    status_ = status;
}

} // namespace stint::permits
