// The answer that a request would get from the queue now, without entering it.
#include "limits/queue/admission_queue.hpp"

#include <utility>

namespace stint::limits {
namespace {

// The mailbox of a waiter that is never decided.
class NoMailbox final : public Mailbox {
    void notify() noexcept override {}
};

} // namespace

AdmissionQueue::Preview AdmissionQueue::preview(
    std::span<const Charge> charges,
    std::span<const WaitTerms> terms,
    const Now& now,
    std::span<ChargeState> states) {
    NoMailbox mailbox;
    Waiter newcomer{mailbox};
    newcomer.charges.assign(charges.begin(), charges.end());
    newcomer.terms.assign(terms.begin(), terms.end());
    const std::lock_guard lock{mutex_};
    newcomer.arrival_ = arrivals_ + 1;
    const auto stand_in = [&](CounterQueue& line, std::size_t at) -> Preview {
        newcomer.deadline_ = now.steady + terms[at].max_wait;
        const auto [free, wait] = line.preview(newcomer, at, now);
        if (free)
            return {Entered::waiting, {}, wait, at};
        return {Entered::refused, without_place(line, at, wait)};
    };
    Decision decision = limits::preview(charges, now, states);
    if (const auto [line, at] = line_to_join(charges, terms, now); line != nullptr)
        return stand_in(*line, at);
    if (decision.allowed() || !may_wait(terms, decision)) {
        const Entered outcome = decision.allowed() ? Entered::admitted : Entered::refused;
        return {outcome, std::move(decision)};
    }
    // A new queue, as enter() would make it.
    const Charge& charge = charges[decision.refused_by];
    CounterQueue line{CounterId::of(*charge.limit, charge.key), charge};
    line.opens_after(decision.retry_after, charge.cost, now);
    return stand_in(line, decision.refused_by);
}

} // namespace stint::limits
