#include "admission/shared_admission.hpp"

#include "limits/limit.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace stint::admission {
namespace {

// The Retry-After of a refusal because the store did not answer.
constexpr Duration store_retry_after = std::chrono::seconds{1};

// Returns the quota and burst that this process may grant to the charge's key while the store does
// not answer. A quota of 0 grants nothing. Requires: the limit's on_failure is `share` or `strict`.
limits::Numbers numbers_without_store(
    const limits::Charge& charge, const limits::SharedTerms& terms, const Now& now) {
    if (const auto share = charge.limit->share(charge.key, now))
        return *share;
    return terms.on_failure == limits::OnStoreFailure::share ? terms.reserve : limits::Numbers{};
}

} // namespace

std::unique_ptr<SharedAdmission>
SharedAdmission::take_from(routing::Charges& charges, SharedAnswerListener& listener) {
    const auto shared = [](routing::AppliedLimit each) { return each->shared.has_value(); };
    if (std::ranges::none_of(charges.limits, shared)) [[likely]]
        return nullptr;
    std::unique_ptr<SharedAdmission> made{new SharedAdmission{listener}};
    routing::Charges stay;
    stay.exempt = charges.exempt;
    for (std::size_t i = 0; i < charges.charges.size(); ++i) {
        routing::Charges& to = shared(charges.limits[i]) ? made->charges_ : stay;
        to.charges.push_back(charges.charges[i]);
        to.charges.back().refundable = true;
        to.limits.push_back(charges.limits[i]);
    }
    made->first_ = stay.charges.size();
    charges = stay;
    return made;
}

SharedAdmission::~SharedAdmission() {
    if (store_ != nullptr)
        give_up(store_->latest());
}

bool SharedAdmission::ask(limits::SharedCharges& store, limits::Permit& others, const Now& now) {
    Duration timeout = Duration::max();
    for (const routing::AppliedLimit each : charges_.limits)
        timeout = std::min(timeout, each->shared->timeout);
    store_ = &store;
    others_ = std::move(others);
    if (post(store, charges_.view(), now.steady + timeout, now))
        return true;
    listener_.shared_asked(now.steady + timeout);
    return false;
}

void SharedAdmission::set_cost(std::uint64_t cost) noexcept {
    for (limits::Charge& each : charges_.charges)
        each.cost = cost;
}

void SharedAdmission::give_up(const Now& now) noexcept {
    store_ = nullptr;
    cancel();
    slots_.give_back();
    for (std::size_t i = 0; i < first_; ++i)
        others_.refund(i, now);
    others_ = {};
}

void SharedAdmission::answered() noexcept {
    listener_.shared_answered();
}

SharedAdmission::Result SharedAdmission::decide(const Now& now) {
    using Answered = limits::SharedAnswer::Outcome;
    const Answered outcome = answer()->outcome;
    if (outcome == Answered::granted)
        hand_over(others_, first_, now);
    Result result = outcome == Answered::failed ? without_store(now) : by_answer();
    result.decision.permit = std::move(others_);
    store_ = nullptr;
    return result;
}

SharedAdmission::Result SharedAdmission::by_answer() const {
    const limits::SharedAnswer& told = *answer();
    Result result;
    for (const limits::CounterState& counter : told.counters)
        result.states.push_back({.counter = counter});
    if (told.outcome == limits::SharedAnswer::Outcome::granted) {
        result.decision.would_refuse = told.would_refuse;
        return result;
    }
    limits::Decision& decision = result.decision;
    decision.refusal = told.refusal;
    decision.refused_by = told.refused_by;
    decision.retry_after = told.retry_after;
    decision.refusing = told.refusing;
    if (told.refused_by < result.states.size())
        result.states[told.refused_by].refusal = told.refusal;
    return result;
}

// Decides by the limits' on_failure when the store has not answered. A limit that is `closed`, or
// has no share or reserve in this process, refuses. An `open` limit admits. The counters of this
// process decide for the remaining limits, and charge all of them or none.
SharedAdmission::Result SharedAdmission::without_store(const Now& now) {
    using limits::OnStoreFailure;
    Result result;
    boost::container::static_vector<limits::Charge, limits::max_charges> own;
    // Each charge's index in charges_.
    boost::container::static_vector<std::uint32_t, limits::max_charges> indexes;
    // Each charge's index in the permit.
    boost::container::static_vector<std::uint32_t, limits::max_charges> held;
    for (std::size_t i = 0; i < charges_.charges.size(); ++i) {
        const limits::SharedTerms& terms = *charges_.limits[i]->shared;
        limits::Charge charge = charges_.charges[i];
        if (terms.on_failure == OnStoreFailure::open || !charge.enforce)
            continue;
        limits::Numbers numbers;
        if (terms.on_failure != OnStoreFailure::closed)
            numbers = numbers_without_store(charge, terms, now);
        if (numbers.quota == 0) {
            result.without_store = true;
            result.decision.refusal = limits::Refusal::window;
            result.decision.refused_by = i;
            result.decision.retry_after = store_retry_after;
            return result;
        }
        const std::uint64_t burst = charge.burst > 0 ? charge.burst : charge.quota;
        charge.quota = std::min(charge.quota, numbers.quota);
        charge.burst = std::min(burst, numbers.burst > 0 ? numbers.burst : numbers.quota);
        own.push_back(charge);
        indexes.push_back(static_cast<std::uint32_t>(i));
        held.push_back(static_cast<std::uint32_t>(first_ + i));
    }
    limits::Decision decision = limits::try_admit({own.data(), own.size()}, now);
    if (decision.allowed()) {
        others_.absorb(std::move(decision.permit), {held.data(), held.size()});
        return result;
    }
    result.decision.refusal = decision.refusal;
    result.decision.refused_by = indexes[decision.refused_by];
    result.decision.retry_after = decision.retry_after;
    for (std::size_t i = 0; i < indexes.size(); ++i)
        result.decision.refusing |= (decision.refusing >> i & 1U) << indexes[i];
    return result;
}

} // namespace stint::admission
