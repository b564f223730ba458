// The part of a decision that asks the route's limits.
#include "admission/request_admission.hpp"
#include "admission/reserving.hpp"
#include "http/permit_text.hpp"
#include "limits/counter/tally.hpp"
#include "limits/limit.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace stint::admission {
namespace {

using Terms = boost::container::small_vector<limits::WaitTerms, 4>;

// Returns the conditions on which each charge's limit lets the request wait.
Terms wait_terms(
    const routing::Charges& charges, const routing::KeyFacts& facts, std::string& scratch) {
    Terms all;
    for (const routing::AppliedLimit each : charges.limits) {
        limits::WaitTerms& terms = all.emplace_back();
        if (const routing::Key key = each->key.evaluate(facts, scratch);
            !each->key.empty() && !key.missing)
            terms.key = key.text;
        if (!each->wait)
            continue;
        terms.waits = true;
        terms.max_wait = each->wait->max_wait;
        terms.max_waiting = each->wait->max_waiting;
        terms.flow = each->wait->fair_by.evaluate(facts, scratch).hash;
    }
    return all;
}

bool lets_wait(const routing::Charges& charges) noexcept {
    return std::ranges::any_of(
        charges.limits, [](routing::AppliedLimit each) { return each->wait.has_value(); });
}

bool reserves(const routing::Charges& charges) noexcept {
    return std::ranges::any_of(
        charges.limits, [](routing::AppliedLimit each) { return !each->reserve_for.empty(); });
}

void spend(limits::PrepaidPermits::Claim& shown, Callbacks& callbacks) noexcept {
    if (shown && shown.spend())
        callbacks.permit_used();
}

// True if a door with these features can apply the limit.
bool can_apply(const routing::LimitTerms& limit, const Features& features) noexcept {
    const bool cap = limit.limit->identity().algorithm == limits::Algorithm::concurrency;
    return (!cap || features.has(Feature::concurrency_limit)) &&
           (!limit.pricing.refundable() || features.has(Feature::settlement));
}

// Leaves out the charges of limits that a door with these features cannot apply. Returns their
// bits: bit i for the route's limit i.
std::uint32_t
leave_out_unseen(routing::Charges& charges, const routing::Route& route, const Features& features) {
    std::uint32_t left_out = 0;
    for (std::size_t i = charges.charges.size(); i-- > 0;) {
        const routing::AppliedLimit limit = charges.limits[i];
        if (can_apply(*limit.terms, features))
            continue;
        left_out |= 1U << static_cast<unsigned>(limit.on_route - route.limits.data());
        charges.charges.erase(charges.charges.begin() + static_cast<std::ptrdiff_t>(i));
        charges.limits.erase(charges.limits.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return left_out;
}

// Records that a limit which is not enforced would not have admitted the request at once.
void note_dry_run(
    DryRun& seen,
    routing::AppliedLimit limit,
    const limits::Charge& charge,
    Callbacks& callbacks,
    const Now& now) {
    const bool waits = limit->dry_run_wait > Duration::zero() && !limit->shared &&
                       limits::would_wait(charge, limit->dry_run_wait, now);
    std::string_view& first = waits ? seen.would_wait : seen.would_refuse;
    if (first.empty())
        first = limit->limit->identity().name;
    if (!waits)
        return callbacks.would_refuse(limit, charge.key);
    limit->limit->dry_run().count_wait();
    callbacks.would_wait(limit);
}

} // namespace

Next RequestAdmission::admit(const routing::KeyFacts& facts) {
    if (route_->limits.empty())
        return admitted();
    env_.callbacks.begin(*route_, decided_);
    routing::Charges charges = routing::charges_of(
        *route_, env_.snapshot.limits, facts, env_.scratch.key, &env_.callbacks);
    for (std::uint32_t left = charges.exempt; left != 0; left &= left - 1)
        [[unlikely]] env_.callbacks.exempt(
            env_.snapshot.on(*route_, static_cast<std::size_t>(std::countr_zero(left))));
    if (charges.denial != routing::Denial::none) [[unlikely]] { // to retry later would not help
        env_.callbacks.denied(charges.denied_by);
        reply_.deny(charges.denied_by, charges.denial);
        return end(403, observe::Outcome::refused);
    }
    if (!features_.has_all_limits()) [[unlikely]]
        left_out_ |= leave_out_unseen(charges, *route_, features_);
    if (shows_permit_ && !charges.charges.empty()) [[unlikely]]
        leave_out_prepaid(charges, facts.fields);
    shared_ = nullptr;
    if (env_.shared != nullptr && env_.preview == nullptr) [[unlikely]]
        shared_ = SharedAdmission::take_from(charges, env_.callbacks);
    if (route_->settles && shared_ != nullptr) [[unlikely]]
        settlement_.expect(shared_->charges(), shared_->first());
    if (charges.charges.empty()) {
        spend(prepaid_, env_.callbacks);
        return admitted();
    }
    if (route_->settles) [[unlikely]]
        settlement_.expect(charges);
    if (route_->cooldown.rules.waits && features_.has(Feature::cooldown_wait)) [[unlikely]]
        for (limits::Charge& each : charges.charges)
            each.refundable = true; // a pause may begin before the request is sent
    const Next next = charge(charges, facts);
    return next == Next::forward ? admitted() : next;
}

// Returns the next step of a request that the limits of this process admit: asks the shared limits,
// lets the route respond, or forwards.
Next RequestAdmission::admitted() {
    if (shared_ != nullptr) [[unlikely]]
        return shared_->ask(*env_.shared, permit_, decided_) ? finish_shared() : Next::wait_shared;
    if (route_->answer == nullptr || !features_.has(Feature::respond)) [[likely]]
        return Next::forward;
    if (has_host_ || !route_->answer->location.has(Placeholder::host))
        return Next::respond;
    fail(400, no_host, observe::Outcome::rejected);
    return Next::reply;
}

inline Next RequestAdmission::charge(routing::Charges& charges, const routing::KeyFacts& facts) {
    if (env_.preview != nullptr) [[unlikely]]
        return preview(charges, facts);
    if (route_->may_wait && lets_wait(charges)) [[unlikely]]
        return charge_in_turn(charges, facts);
    if (route_->may_reserve && reserves(charges)) [[unlikely]] {
        Reserving reserving{charges, facts, env_.scratch.key, *env_.ticket_hasher};
        limits::Decision decision = reserving.admit(
            decided_, route_->telling.any ? &headers_ : nullptr,
            shared_ != nullptr ? &shared_->slots() : nullptr);
        if (decision.allowed())
            return accept(decision, charges);
        reserving.add_tickets(reply_);
        return refuse(charges, decision);
    }
    limits::Decision decision = route_->telling.any ? headers_.admit(charges, decided_)
                                                    : limits::admit(charges.view(), decided_);
    return decision.allowed() ? accept(decision, charges) : refuse(charges, decision);
}

// Leaves out the charges that the presented permit has prepaid, and lowers the cost of a charge
// that it has prepaid in part. Gives back a permit that pays for no charge: another route may
// accept it.
void RequestAdmission::leave_out_prepaid(routing::Charges& charges, std::span<const Field> fields) {
    if (prepaid_.expired(decided_.steady)) // it expired during a pause
        prepaid_ = {};
    if (!prepaid_) // unless claimed before a wait
        if (const auto shown = http::shown_permit(fields))
            prepaid_ = env_.preview != nullptr ? env_.prepaid->look(*shown, decided_.steady)
                                               : env_.prepaid->claim(*shown, decided_.steady);
    bool pays = false;
    for (std::size_t i = charges.charges.size(); i-- > 0;) {
        limits::Charge& charge = charges.charges[i];
        const std::uint64_t paid = prepaid_ ? prepaid_.paid_of(charge) : 0;
        pays = pays || paid > 0;
        charge.cost -= paid;
        if (charge.cost > 0)
            continue;
        charges.charges.erase(charges.charges.begin() + static_cast<std::ptrdiff_t>(i));
        charges.limits.erase(charges.limits.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (pays)
        return;
    prepaid_ = {};
    shows_permit_ = false;
    env_.callbacks.permit_unknown();
}

// Charges the request at once if no other request waits for its limits. The admission queue has a
// lock of its own: only a request that may have to wait enters it.
Next RequestAdmission::charge_in_turn(
    const routing::Charges& charges, const routing::KeyFacts& facts) {
    const auto& limits = charges.limits;
    const auto awaited = [](routing::AppliedLimit each) {
        return each->wait && each->limit->awaited();
    };
    if (std::ranges::none_of(limits, awaited)) {
        limits::Decision decision = limits::try_admit(charges.view(), decided_);
        const bool admitted = decision.allowed();
        if (admitted || !limits[decision.refused_by]->wait) {
            if (route_->telling.any)
                headers_.note_turn(
                    charges.view(), {limits.data(), limits.size()}, decision, decided_);
            if (admitted)
                return accept(decision, charges);
            limits::count_refusal(charges.view(), decision);
            return refuse(charges, decision);
        }
    }
    QueuedCharges& queued = env_.callbacks.make_queued();
    queued.charges.assign(charges.view().begin(), charges.view().end());
    queued.asked = charges;
    queued.terms = wait_terms(charges, facts, env_.scratch.key);
    const auto entered = env_.callbacks.queue().enter(queued, decided_);
    if (entered == limits::AdmissionQueue::Entered::waiting)
        return Next::wait_queue;
    const Next next = settle_queue(queued);
    env_.callbacks.drop_queued();
    return next;
}

Next RequestAdmission::finish_queue(QueuedCharges& queued, Duration waited) {
    const routing::AppliedLimit limit = queued.asked.limits[queued.waited_for];
    const Next next = settle_queue(queued);
    env_.callbacks.waited(limit, next == Next::forward, waited);
    if (next != Next::forward)
        return next;
    const bool closed = is_closed();
    if (closed || !fence_holds()) {
        undo(decided_);
        return Next::reply;
    }
    return admitted();
}

// Adds the granted shared charges to the request's permit, or refunds all charges of the request.
Next RequestAdmission::finish_shared() {
    const std::unique_ptr<SharedAdmission> shared = std::move(shared_);
    SharedAdmission::Result result = shared->decide(decided_);
    const routing::Charges& charges = shared->charges();
    permit_ = std::move(result.decision.permit);
    const bool granted = result.decision.allowed();
    if (!granted) {
        shared->give_up(decided_);
        undo(decided_);
    }
    if (route_->telling.any && !result.states.empty())
        headers_.add(
            charges.view(), {charges.limits.data(), charges.limits.size()},
            {result.states.data(), result.states.size()}, result.decision, decided_);
    if (!granted) {
        limits::count_refusal(charges.view(), result.decision);
        return refuse(charges, result.decision, result.without_store);
    }
    result.decision.permit = std::move(permit_);
    const Next next = accept(result.decision, charges);
    const bool closed = is_closed();
    if (closed || !fence_holds()) {
        shared->give_up(decided_);
        undo(decided_);
        return Next::reply;
    }
    shared->keep_slots();
    return next == Next::forward ? admitted() : next;
}

Next RequestAdmission::settle_queue(QueuedCharges& queued) {
    limits::Decision& decision = queued.decision;
    const auto& limits = queued.asked.limits;
    if (route_->telling.any)
        headers_.note_turn(
            {queued.charges.data(), queued.charges.size()}, {limits.data(), limits.size()},
            decision, decided_);
    return decision.allowed() ? accept(decision, queued.asked) : refuse(queued.asked, decision);
}

Next RequestAdmission::accept(limits::Decision& decision, const routing::Charges& charges) {
    permit_ = std::move(decision.permit);
    if (shows_permit_) [[unlikely]]
        spend(prepaid_, env_.callbacks);
    if ((decision.overflow_began | decision.would_refuse) == 0) [[likely]]
        return Next::forward;
    for (std::uint32_t left = decision.overflow_began; left != 0; left &= left - 1)
        [[unlikely]] env_.callbacks.table_full(
            charges.limits[static_cast<std::size_t>(std::countr_zero(left))]);
    for (std::uint32_t left = decision.would_refuse; left != 0; left &= left - 1)
        [[unlikely]] {
            const auto at = static_cast<std::size_t>(std::countr_zero(left));
            note_dry_run(
                dry_run_, charges.limits[at], charges.charges[at], env_.callbacks, decided_);
        }
    return Next::forward;
}

Next RequestAdmission::refuse(
    const routing::Charges& charges, const limits::Decision& decision, bool without_store) {
    const routing::AppliedLimit limit = charges.limits[decision.refused_by];
    env_.callbacks.refused(limit, charges.charges[decision.refused_by].key, decision.retry_after);
    prepaid_ = {}; // gives the permit back before the client can present it again
    if (without_store) {
        reply_.blame_store(limit, decision.retry_after);
        return end(503, observe::Outcome::refused);
    }
    const Duration retry_after =
        limit->answer.jitter > Duration::zero()
            ? env_.callbacks.with_jitter(decision.retry_after, limit->answer.jitter)
            : decision.retry_after;
    reply_.refuse(charges, decision, retry_after);
    return end(limit.refusal_status(), observe::Outcome::refused);
}

Next RequestAdmission::preview(routing::Charges& charges, const routing::KeyFacts& facts) {
    Preview& seen = *env_.preview;
    const std::span states{seen.states.data(), charges.charges.size()};
    Next next = Next::forward;
    if (route_->may_wait && lets_wait(charges)) {
        const Terms terms = wait_terms(charges, facts, env_.scratch.key);
        auto outlook = env_.callbacks.queue().preview(
            charges.view(), {terms.data(), terms.size()}, decided_, states);
        seen.decision = std::move(outlook.decision);
        seen.wait = outlook.wait;
        if (outlook.outcome == limits::AdmissionQueue::Entered::waiting) {
            next = Next::wait_queue;
            seen.decision.refused_by = outlook.waited_for;
        }
    } else if (route_->may_reserve && reserves(charges)) {
        Reserving reserving{charges, facts, env_.scratch.key, *env_.ticket_hasher};
        seen.decision = reserving.preview(decided_, states);
    } else {
        seen.decision = limits::preview(charges.view(), decided_, states);
    }
    seen.charges = charges;
    return seen.decision.allowed() || next == Next::wait_queue ? next
                                                               : refuse(charges, seen.decision);
}

} // namespace stint::admission
