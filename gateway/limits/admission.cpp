#include "limits/counters.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace stint::limits {

// One request before its limits: all their shards are locked while it lives. The locks are taken in
// rising order of the limits' ordinals, the same for every thread, so none waits in a circle.
class Admission {
  public:
    Admission(std::span<const Charge> charges, const Now& now) : charges_{charges}, now_{now} {
        assert(charges.size() <= max_charges);
        for (std::size_t i = 0; i < charges_.size(); ++i) {
            assert(i == 0 || charges_[i - 1].limit->ordinal() < charges_[i].limit->ordinal());
            claims_[i] = {&counters(i).shard_of(charges_[i].key), nullptr, false, false};
            claims_[i].shard->mutex.lock();
        }
    }
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;
    ~Admission() {
        for (std::size_t i = charges_.size(); i-- > 0;)
            claims_[i].shard->mutex.unlock();
    }

    // Checks all, then charges all or none.
    void decide(Decision& decision) noexcept {
        for (std::size_t i = 0; i < charges_.size(); ++i) {
            const Verdict verdict = counters(i).check(claims_[i], charges_[i], now_);
            if (verdict.refusal == Refusal::none) [[likely]]
                continue;
            if (decision.allowed() || verdict.wait > decision.retry_after) {
                decision.refusal = verdict.refusal;
                decision.refused_by = i;
                decision.retry_after = verdict.wait;
            }
        }
        for (std::size_t i = 0; i < charges_.size(); ++i) {
            if (decision.allowed()) [[likely]]
                counters(i).charge(claims_[i], charges_[i].key, now_);
            else
                counters(i).cancel(claims_[i]);
        }
    }

    // Room for every cap's slot. Called before any lock is taken: it may allocate and throw.
    static std::size_t reserve(Permit& permit, std::span<const Charge> charges) {
        const auto is_cap = [](const Charge& charge) { return charge.limit->counters_->is_cap(); };
        const auto caps = static_cast<std::size_t>(std::ranges::count_if(charges, is_cap));
        permit.held_.reserve(caps);
        return caps;
    }

    static void hold(Permit& permit, std::span<const Charge> charges, const Now& now) noexcept {
        permit.since_ = now.steady;
        for (const Charge& charge : charges)
            if (charge.limit->counters_->is_cap())
                permit.held_.push_back({charge.limit, charge.key});
    }

    static void count_refusal(const Decision& decision, std::span<const Charge> charges) noexcept {
        charges[decision.refused_by].limit->counters_->count_refusal(decision.refusal);
    }

  private:
    [[nodiscard]] Counters& counters(std::size_t i) const noexcept {
        return *charges_[i].limit->counters_;
    }

    std::span<const Charge> charges_;
    const Now& now_;
    std::array<Claim, max_charges> claims_; // one for each charge; the rest stays untouched
};

Decision admit(std::span<const Charge> charges, const Now& now) {
    Decision decision;
    const std::size_t caps = Admission::reserve(decision.permit, charges);
    Admission{charges, now}.decide(decision);
    if (!decision.allowed())
        Admission::count_refusal(decision, charges);
    else if (caps > 0)
        Admission::hold(decision.permit, charges, now);
    return decision;
}

} // namespace stint::limits
