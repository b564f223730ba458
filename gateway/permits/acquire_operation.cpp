#include "permits/acquire_operation.hpp"

#include "limits/reservation/reservations.hpp"
#include "net/clock.hpp"
#include "proxy/admission/worker_callbacks.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
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
    proxy::Context& context, Shared& shared, const server::ConnectionInfo& connection)
    : context_{context}, shared_{shared}, peer_{*connection.peer}, waits_{connection.waits},
      config_{context.active}, waiting_since_{connection.waiting_since}, now_{net::read_clocks()},
      limits_{context, *config_, shared, peer_, reply_}, share_wakeup_{context.executor} {}

AcquireOperation::Step AcquireOperation::begin(const AcquireRequest& ask) {
    owner_ = ask.owner.empty() ? peer_.network_hash() : context_.shared().hasher(ask.owner);
    listed_ = ask.listed;
    ticket_ = ask.ticket;
    batch_ = ask.batch;
    wait_ = ask.wait;
    status_ = limits_.find(ask, now_.steady);
    if (status_ != 200 || !claim_once(ask) || !is_open())
        return Step::answered;
    if (limits_.charges().charges.empty()) {
        grant_.count = batch_; // each limit exempts the request, or is only read (cost 0)
        grant();
        return Step::answered;
    }
    return admit(&ask);
}

bool AcquireOperation::reserves() const noexcept {
    return std::ranges::any_of(
        limits_.charges().limits, [](const auto& limit) { return !limit->reserve_for.empty(); });
}

// Admits or refuses the request at once, asks the stores for shares, or queues it. Queues it also
// if another request waits for one of its limits: a new request never overtakes a waiter. ask: null
// after a wait for shares.
AcquireOperation::Step AcquireOperation::admit(const AcquireRequest* ask) {
    if (!reserves()) [[likely]]
        keep_shares();
    const bool awaited = std::ranges::any_of(
        limits_.charges().limits, [](const auto& limit) { return limit->limit->awaited(); });
    if (!awaited || reserves()) [[likely]] {
        limits::Decision decision = admit_now();
        if (decision.lacks_share != 0 && !decision.allowed()) [[unlikely]] {
            if (asks_for_shares(decision, ask))
                return Step::waits;
            decision = without_shares(std::move(decision));
        }
        const bool waits = !decision.allowed() && wait_ > Duration::zero() && !reserves() &&
                           decision.refusal != limits::Refusal::cost;
        if (!waits) {
            if (!decision.allowed() && !reserves())
                limits::count_refusal(limits_.charges().view(), decision);
            return settle(decision);
        }
    }
    if (awaited && !reserves()) [[unlikely]] {
        const limits::Decision seen = admission::shares_for(limits_.charges(), now_);
        if (seen.lacks_share != 0 && asks_for_shares(seen, ask))
            return Step::waits;
    }
    line_up(ask);
    if (queued_->queue().enter(*queued_, now_) == limits::AdmissionQueue::Entered::waiting)
        return Step::waits;
    const std::unique_ptr<proxy::QueuedRequest> queued = std::move(queued_);
    return settle(queued->decision);
}

// Asks the stores for larger shares, unless the request has waited for them before (`ask` is null).
// Returns true if the request waits for their answers.
bool AcquireOperation::asks_for_shares(const limits::Decision& refused, const AcquireRequest* ask) {
    const std::uint32_t waiting = wait_ > Duration::zero() ? ~std::uint32_t{} : 0;
    if (ask == nullptr || !admission::can_ask(refused, waiting))
        return false;
    share_wait_ =
        std::make_unique<admission::ShareWait>(limits_.charges(), terms_of(*ask), share_wakeup_);
    share_wait_->ask(context_.shares, refused, now_);
    return true;
}

bool AcquireOperation::stores_failed() const noexcept {
    return share_wait_ != nullptr && share_wait_->failed();
}

// Decides again without shares, if all limits that refuse have OnStoreFailure::open and stores that
// cannot be asked: then this gateway counts them alone. Otherwise returns `refused`.
limits::Decision AcquireOperation::without_shares(limits::Decision refused) {
    const auto own = admission::without_shares(limits_.charges(), refused, stores_failed());
    if (!own)
        return refused;
    for (std::size_t i = 0; i < own->charges.size(); ++i)
        limits_.charges().charges[i].ignore_share = own->charges[i].ignore_share;
    return admit_now();
}

// Records the owner's demand in FairShares. If the request cannot wait, withholds from it the fair
// shares that other owners have not used yet. If it can wait, the queue itself is fair.
void AcquireOperation::keep_shares() {
    shares_ = wait_ == Duration::zero();
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
// withheld for other owners. At this time the request would be admitted, if no other owner asks for
// permits until then.
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
    for (int pass = 0; pass < 2; ++pass) // pass 1 begins at pass 0's result
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

limits::Decision AcquireOperation::admit_now() {
    if (reserves()) [[unlikely]]
        return admit_reserving();
    if (batch_ > 0) [[unlikely]]
        return admit_batch(batch_);
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
        {reserving.data(), reserving.size()}, now_, {});
}

admission::WaitTermsList AcquireOperation::terms_of(const AcquireRequest& ask) const {
    admission::WaitTermsList all;
    for (std::size_t i = 0; i < limits_.charges().limits.size(); ++i) {
        const routing::LimitTerms& limit = *limits_.charges().limits[i].terms;
        limits::WaitTerms& terms = all.emplace_back();
        terms.waits = true;
        terms.max_wait = wait_;
        terms.max_waiting = limit.wait ? limit.wait->max_waiting : most_waiting;
        terms.flow = owner_;
        if (const auto& key = ask.limits[limits_.part_of()[i]].key)
            terms.key = limit.key.canonical(*key);
    }
    return all;
}

void AcquireOperation::line_up(const AcquireRequest* ask) {
    queued_ = std::make_unique<proxy::QueuedRequest>(context_.wakeups, waits_, waiting_since_);
    one_first_ = batch_ > 0;
    if (one_first_)
        limits_.charges().charges.front().cost = 1;
    for (limits::Charge& charge : limits_.charges().charges) {
        charge.reserved_for_others = 0;
        charge.ignore_share = false;
    }
    queued_->ask(limits_.charges(), ask != nullptr ? terms_of(*ask) : share_wait_->terms());
}

net::Task<> AcquireOperation::wait() {
    return queued_ ? queued_->wait() : share_wakeup_.until_answered();
}

void AcquireOperation::give_up() noexcept {
    if (queued_)
        context_.wakeups.give_up(*queued_);
    else if (share_wakeup_.is_begun())
        share_wakeup_.give_up();
}

bool AcquireOperation::settle() {
    if (!queued_) {
        now_ = net::read_clocks();
        share_wakeup_.end();
        return admit(nullptr) == Step::answered;
    }
    const std::unique_ptr<proxy::QueuedRequest> queued = std::move(queued_);
    const Now before = now_;
    now_ = net::read_clocks();
    const bool waited_before = waiting_since_ != SteadyTime{};
    grant_.waited = now_.steady - (waited_before ? waiting_since_ : before.steady);
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

// Acts on the limits' decision: refuses or grants.
AcquireOperation::Step AcquireOperation::settle(limits::Decision& decision) {
    if (!decision.allowed()) {
        refuse(decision);
        return Step::answered;
    }
    if (decision.would_refuse != 0) [[unlikely]]
        proxy::note_dry_run(context_, *config_, limits_.charges(), decision);
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
    if (admission::is_for_want_of_store(charges, decision, stores_failed(), now_)) [[unlikely]] {
        reply_.blame_store(charges.limits[decision.refused_by], admission::store_retry_after);
        status_ = 503;
    }
}

void AcquireOperation::fail(int status, std::initializer_list<std::string_view> detail) {
    std::string text;
    for (const std::string_view part : detail)
        text.append(part);
    reply_.explain(std::move(text));
    status_ = status;
}

} // namespace stint::permits
