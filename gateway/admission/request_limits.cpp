// The part of a decision that asks the route's limits.
#include "admission/request_admission.hpp"
#include "admission/reserving.hpp"
#include "http/permit_text.hpp"
#include "limits/counter/tally.hpp"
#include "limits/limit.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace stint::admission {
namespace {

// Returns the conditions on which each charge's limit lets the request wait.
WaitTermsList
wait_terms(const routing::Charges& charges, const routing::KeyFacts& facts, std::string& scratch) {
    WaitTermsList all;
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

// Returns a bit mask: bit i is set if the limit of charge i lets the request wait.
std::uint32_t waiting(const routing::Charges& charges) noexcept {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < charges.limits.size(); ++i)
        bits |= charges.limits[i]->wait ? std::uint32_t{1} << i : 0;
    return bits;
}

bool lets_wait(const routing::Charges& charges) noexcept {
    return waiting(charges) != 0;
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

// Removes the charges of limits that an entry point (Door) with these features cannot apply.
// Returns a bit mask of these limits: bit i for the route's limit i.
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
    const bool waits = limit->dry_run_wait > Duration::zero() &&
                       limits::would_wait(charge, limit->dry_run_wait, now);
    std::string_view& first = waits ? seen.would_wait : seen.would_refuse;
    if (first.empty())
        first = limit->limit->identity().name;
    if (!waits)
        return callbacks.would_refuse(limit, charge.key);
    limit->limit->dry_run().count_wait();
    callbacks.would_wait(limit);
}

limits::Decision try_admit(
    const routing::Route& route,
    RateLimitHeaders& headers,
    const routing::Charges& charges,
    const Now& now) {
    return route.telling.any ? headers.try_admit(charges, now)
                             : limits::try_admit(charges.view(), now);
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
    if (charges.charges.empty()) {
        spend(prepaid_, env_.callbacks);
        return admitted();
    }
    if (route_->settles) [[unlikely]]
        settlement_.expect(charges);
    if (route_->cooldown.rules.waits && features_.has(Feature::cooldown_wait)) [[unlikely]]
        for (limits::Charge& each : charges.charges)
            each.refundable = true; // a pause may begin before the request is sent
    const Next next = charge(charges, {.facts = &facts});
    return next == Next::forward ? admitted() : next;
}

// Returns the next step of a request that its limits admit: lets the route respond, or forwards.
Next RequestAdmission::admitted() {
    if (route_->answer == nullptr || !features_.has(Feature::respond)) [[likely]]
        return Next::forward;
    if (has_host_ || !route_->answer->location.has(Placeholder::host))
        return Next::respond;
    fail(400, no_host, observe::Outcome::rejected);
    return Next::reply;
}

inline Next RequestAdmission::charge(routing::Charges& charges, const Asked& asked) {
    if (env_.preview != nullptr) [[unlikely]]
        return preview(charges, *asked.facts);
    if (route_->may_wait && lets_wait(charges)) [[unlikely]]
        return charge_in_turn(charges, asked);
    if (route_->may_reserve && reserves(charges)) [[unlikely]] { // no shared limit reserves
        Reserving reserving{charges, *asked.facts, env_.scratch.key, *env_.ticket_hasher};
        limits::Decision decision =
            reserving.admit(decided_, route_->telling.any ? &headers_ : nullptr);
        if (decision.allowed())
            return accept(decision, charges, asked);
        reserving.add_tickets(reply_);
        return refuse(charges, decision, asked);
    }
    limits::Decision decision = try_admit(*route_, headers_, charges, decided_);
    if (decision.allowed()) [[likely]]
        return accept(decision, charges, asked);
    if (decision.lacks_share != 0) [[unlikely]]
        if (const auto next = without_share(decision, charges, asked))
            return *next;
    limits::count_refusal(charges.view(), decision);
    return refuse(charges, decision, asked);
}

// Decides about a request for which a share is too small: it waits for the store's answer, or its
// limits are counted without the store. Nothing if the refusal stands.
std::optional<Next> RequestAdmission::without_share(
    const limits::Decision& refused, const routing::Charges& charges, const Asked& asked) {
    if (asked.facts != nullptr && env_.shares != nullptr && can_ask(refused, waiting(charges))) {
        shares_ = std::make_unique<ShareWait>(
            charges, asked.terms(charges, env_.scratch.key), env_.callbacks);
        shares_->ask(*env_.shares, refused, decided_);
        return Next::wait_shares;
    }
    const auto own = without_shares(charges, refused, asked.failed());
    if (!own)
        return std::nullopt;
    limits::Decision decision = try_admit(*route_, headers_, *own, decided_);
    if (decision.allowed())
        return accept(decision, *own, asked);
    limits::count_refusal(own->view(), decision);
    return refuse(*own, decision, asked);
}

WaitTermsList
RequestAdmission::Asked::terms(const routing::Charges& charges, std::string& scratch) const {
    return facts != nullptr ? wait_terms(charges, *facts, scratch) : before->terms();
}

Next RequestAdmission::finish_shares() {
    const std::unique_ptr<ShareWait> wait = std::move(shares_);
    const Next next = charge(wait->charges(), {.before = wait.get()});
    return next == Next::forward ? finish_wait() : next;
}

// Checks the cool-down and the fencing token of a charged request again, because they may have
// changed while it waited. If one of them refuses, undoes the charges and returns Next::reply.
Next RequestAdmission::finish_wait() {
    const bool closed = is_closed();
    if (!closed && fence_holds())
        return admitted();
    undo(decided_);
    return Next::reply;
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

// Charges the request at once if no other request waits for its limits and they admit it. Otherwise
// the request enters the admission queue, or is refused. Entering takes the queue's lock, which a
// request that is charged at once avoids.
Next RequestAdmission::charge_in_turn(const routing::Charges& charges, const Asked& asked) {
    const auto& limits = charges.limits;
    const auto awaited = [](routing::AppliedLimit each) {
        return each->wait && each->limit->awaited();
    };
    const bool behind = std::ranges::any_of(limits, awaited);
    limits::Decision decision =
        behind ? shares_for(charges, decided_) : try_admit(*route_, headers_, charges, decided_);
    if (!behind && decision.allowed())
        return accept(decision, charges, asked);
    if (decision.lacks_share != 0) [[unlikely]]
        if (const auto next = without_share(decision, charges, asked))
            return *next;
    if (!behind && !limits[decision.refused_by]->wait) {
        limits::count_refusal(charges.view(), decision);
        return refuse(charges, decision, asked);
    }
    QueuedCharges& queued = env_.callbacks.make_queued();
    queued.ask(charges, asked.terms(charges, env_.scratch.key));
    const auto entered = env_.callbacks.queue().enter(queued, decided_);
    if (entered == limits::AdmissionQueue::Entered::waiting)
        return Next::wait_queue;
    const Next next = settle_queue(queued);
    env_.callbacks.drop_queued();
    return next;
}

Next RequestAdmission::finish_queue(QueuedCharges& queued, Duration waited) {
    const routing::AppliedLimit limit = queued.limits()[queued.waited_for];
    const Next next = settle_queue(queued);
    env_.callbacks.waited(limit, next == Next::forward, waited);
    if (next != Next::forward)
        return next;
    return finish_wait();
}

Next RequestAdmission::settle_queue(QueuedCharges& queued) {
    limits::Decision& decision = queued.decision;
    const routing::Charges asked = queued.asked();
    if (route_->telling.any)
        headers_.note_turn(
            asked.view(), {asked.limits.data(), asked.limits.size()}, decision, decided_);
    return decision.allowed() ? accept(decision, asked, {}) : refuse(asked, decision, {});
}

Next RequestAdmission::accept(
    limits::Decision& decision, const routing::Charges& charges, const Asked& asked) {
    permit_ = std::move(decision.permit);
    if (shows_permit_) [[unlikely]]
        spend(prepaid_, env_.callbacks);
    if ((decision.overflow_began | decision.would_refuse) == 0) [[likely]]
        return Next::forward;
    for (std::uint32_t left = decision.overflow_began; left != 0; left &= left - 1)
        [[unlikely]] env_.callbacks.table_full(
            charges.limits[static_cast<std::size_t>(std::countr_zero(left))]);
    if (decision.ask_store != 0 && asked.facts != nullptr && env_.shares != nullptr) [[unlikely]] {
        // Asks for larger shares, but does not wait for the answers. Limits in dry run that may get
        // a larger share are not counted as refusing, because the answer is not known.
        try {
            ask_for_dry_run(
                *env_.shares, charges, asked.terms(charges, env_.scratch.key), decision.ask_store);
        } catch (const std::bad_alloc&) { // the next request asks
        }
        decision.would_refuse &= ~decision.ask_store;
    }
    for (std::uint32_t left = decision.would_refuse; left != 0; left &= left - 1)
        [[unlikely]] {
            const auto at = static_cast<std::size_t>(std::countr_zero(left));
            note_dry_run(
                dry_run_, charges.limits[at], charges.charges[at], env_.callbacks, decided_);
        }
    return Next::forward;
}

Next RequestAdmission::refuse(
    const routing::Charges& charges, const limits::Decision& decision, const Asked& asked) {
    const routing::AppliedLimit limit = charges.limits[decision.refused_by];
    env_.callbacks.refused(limit, charges.charges[decision.refused_by].key, decision.retry_after);
    prepaid_ = {}; // gives the permit back before the client can present it again
    if (is_for_want_of_store(charges, decision, asked.failed(), decided_)) [[unlikely]] {
        reply_.blame_store(limit, store_retry_after);
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
        const WaitTermsList terms = wait_terms(charges, facts, env_.scratch.key);
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
                                                               : refuse(charges, seen.decision, {});
}

} // namespace stint::admission
