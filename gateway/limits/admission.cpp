#include "limits/counter/counters.hpp"

#include <boost/container/static_vector.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace stint::limits {

// The admission of one request: keeps the shards of all its counters locked while it exists. All
// threads lock in rising order of the limits' ordinals, so no deadlock arises.
class Admission {
  public:
    Admission(std::span<const Charge> charges, const Now& now) : charges_{charges}, now_{now} {
        assert(charges.size() <= max_charges);
        for (std::size_t i = 0; i < charges_.size(); ++i) {
            assert(i == 0 || charges_[i - 1].limit->ordinal() < charges_[i].limit->ordinal());
            Shard& shard = counters(i).shard_of(charges_[i].key);
            shard.mutex.lock();
            claims_.emplace_back(shard);
        }
    }
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

    // Checks all charges, then makes all of them or none. states: room for one per charge, or
    // nullptr.
    void decide(Decision& decision, ChargeState* states) noexcept {
        const std::uint32_t refusing = judge(decision, states);
        for (std::size_t i = 0; i < charges_.size(); ++i) {
            const bool refuses = (refusing >> i & 1U) != 0;
            if (decision.allowed() && !refuses) [[likely]]
                keep(decision, i, counters(i).charge(claims_[i], charges_[i], now_));
            else
                counters(i).cancel(claims_[i]);
            if (states != nullptr)
                states[i].counter = counters(i).state(claims_[i], charges_[i], now_);
        }
    }

    // Decides like decide(), but makes no charge.
    void preview(Decision& decision, std::span<ChargeState> states) noexcept {
        judge(decision, states.data());
        for (std::size_t i = 0; i < charges_.size(); ++i) {
            counters(i).cancel(claims_[i]);
            states[i].counter = counters(i).state(claims_[i], charges_[i], now_);
        }
    }

    // Reserves room in the permit for its entries. Call before any lock is taken: it may allocate
    // and throw.
    static void reserve(Permit& permit, std::span<const Charge> charges) {
        if (charges.size() <= permit.held_.capacity()) [[likely]]
            return;
        const auto count = std::ranges::count_if(charges, remembered);
        permit.held_.reserve(static_cast<std::size_t>(count));
    }

    static void count(const Decision& decision, std::span<const Charge> charges) noexcept {
        if (!decision.allowed())
            return charges[decision.refused_by].limit->counters_->tally().count_refusal(
                decision.refusal);
        for (std::uint32_t left = decision.would_refuse; left != 0; left &= left - 1)
            charges[static_cast<std::size_t>(std::countr_zero(left))]
                .limit->counters_->tally()
                .dry_run()
                .count_exceeded();
    }

  private:
    // One claim for each charge, at most max_charges. The destructor unlocks their shards.
    using Unchecked =
        boost::container::static_vector_options_t<boost::container::throw_on_overflow<false>>;
    struct Claims : boost::container::static_vector<CounterRef, max_charges, Unchecked> {
        ~Claims() {
            for (std::size_t i = size(); i-- > 0;)
                (*this)[i].shard->mutex.unlock();
        }
    };

    // Checks all charges and fills in `decision`. Returns a bit mask: bit i is set if charge i,
    // enforced or not, refuses.
    std::uint32_t judge(Decision& decision, ChargeState* states) noexcept {
        std::uint32_t refusing = 0;
        for (std::size_t i = 0; i < charges_.size(); ++i) {
            const Verdict verdict = counters(i).check(claims_[i], charges_[i], now_);
            if (states != nullptr)
                states[i].refusal = verdict.refusal;
            if (verdict.refusal == Refusal::none) [[likely]]
                continue;
            refusing |= std::uint32_t{1} << i;
            if (verdict.lack != ShareLack::none) [[unlikely]] {
                decision.lacks_share |= std::uint32_t{1} << i;
                decision.ask_store |= verdict.lack == ShareLack::ask ? std::uint32_t{1} << i : 0;
            }
            if (charges_[i].enforce)
                note(decision, i, verdict);
        }
        if (decision.allowed()) [[likely]]
            decision.would_refuse = refusing;
        return refusing;
    }

    [[nodiscard]] Counters& counters(std::size_t i) const noexcept {
        return *charges_[i].limit->counters_;
    }

    static bool remembered(const Charge& charge) noexcept {
        return charge.refundable || charge.limit->counters_->is_cap();
    }

    static void note(Decision& decision, std::size_t i, const Verdict& verdict) noexcept {
        decision.refusing |= std::uint32_t{1} << i;
        if (!decision.allowed() && verdict.wait <= decision.retry_after)
            return;
        decision.refusal = verdict.refusal;
        decision.refused_by = i;
        decision.retry_after = verdict.wait;
    }

    void keep(Decision& decision, std::size_t i, const Receipt& receipt) const noexcept {
        if (receipt.overflow && counters(i).tally().count_overflow(now_.steady)) [[unlikely]]
            decision.overflow_began |= std::uint32_t{1} << i;
        if (!remembered(charges_[i])) [[likely]]
            return;
        Permit& permit = decision.permit;
        const bool cap = counters(i).is_cap();
        permit.held_.push_back(
            {charges_[i].limit, charges_[i].key, receipt, static_cast<std::uint32_t>(i), cap,
             charges_[i].release_on_upgrade, false});
        permit.slots_ += cap ? 1 : 0;
        permit.since_ = now_.steady;
    }

    std::span<const Charge> charges_;
    const Now& now_;
    Claims claims_;
};

Decision admit(std::span<const Charge> charges, const Now& now, std::span<ChargeState> states) {
    Decision decision = try_admit(charges, now, states);
    if (!decision.allowed())
        count_refusal(charges, decision);
    return decision;
}

Decision try_admit(std::span<const Charge> charges, const Now& now, std::span<ChargeState> states) {
    Decision decision;
    Admission::reserve(decision.permit, charges);
    Admission{charges, now}.decide(decision, states.empty() ? nullptr : states.data());
    if (decision.allowed())
        Admission::count(decision, charges);
    return decision;
}

Decision preview(std::span<const Charge> charges, const Now& now, std::span<ChargeState> states) {
    Decision decision;
    Admission{charges, now}.preview(decision, states);
    return decision;
}

bool would_wait(const Charge& charge, Duration max_wait, const Now& now) {
    Charge enforced = charge;
    enforced.enforce = true;
    ChargeState state;
    const Decision seen = preview({&enforced, 1}, now, {&state, 1});
    return seen.refusal != Refusal::cost && seen.refusal != Refusal::table_full &&
           seen.retry_after <= max_wait;
}

bool affordable(std::span<const Charge> charges, const Now& now) {
    if (std::ranges::all_of(charges, [](const Charge& charge) { return charge.cost == 1; }))
        return true;
    std::array<ChargeState, max_charges> states;
    // If any limit refuses for the cost, that refusal is reported: its wait is the longest.
    return preview(charges, now, states).refusal != Refusal::cost;
}

void count_refusal(std::span<const Charge> charges, const Decision& decision) noexcept {
    Admission::count(decision, charges);
}

} // namespace stint::limits
