#include "limits/cooldown/cooldown.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::limits {

namespace {

using namespace std::chrono_literals;

constexpr Duration forgettable = 60s;

double in_seconds(Duration duration) noexcept {
    return std::chrono::duration<double>(duration).count();
}

} // namespace

Duration SendRate::interval(double per_second) noexcept {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / per_second));
}

void SendRate::count(SteadyTime now) noexcept {
    if (first_ == SteadyTime{})
        first_ = begin_ = now;
    if (now - begin_ >= span) {
        const bool adjacent = now - begin_ < 2 * span;
        former_ = adjacent ? current_ : 0;
        current_ = 0;
        if (adjacent)
            begin_ += span;
        else
            first_ = begin_ = now;
    }
    ++current_;
}

double SendRate::per_second(SteadyTime now) const noexcept {
    const Duration age = std::max(now - begin_, Duration::zero());
    const double floor = 1 / in_seconds(span);
    if (age >= 2 * span)
        return floor;
    const double count = age >= span ? current_ : former_ + current_;
    const Duration over =
        std::clamp(age >= span ? age : std::min(now - first_, age + span), Duration{1s}, 2 * span);
    return std::max(count / in_seconds(over), floor);
}

Cooldown::Pass::Pass(std::shared_ptr<Cooldown> cooldown, std::uint64_t era, bool probe) noexcept
    : cooldown_{std::move(cooldown)}, era_{era}, probe_{probe} {}

Cooldown::Pass::Pass(Pass&& other) noexcept
    : cooldown_{std::move(other.cooldown_)}, era_{other.era_}, probe_{std::exchange(
                                                                   other.probe_, false)},
      counted_{std::exchange(other.counted_, false)}, scout_{std::exchange(other.scout_, false)} {}

Cooldown::Pass& Cooldown::Pass::operator=(Pass&& other) noexcept {
    if (this != &other) {
        drop();
        cooldown_ = std::move(other.cooldown_);
        era_ = other.era_;
        probe_ = std::exchange(other.probe_, false);
        counted_ = std::exchange(other.counted_, false);
        scout_ = std::exchange(other.scout_, false);
    }
    return *this;
}

void Cooldown::Pass::drop() noexcept {
    if (cooldown_ && (probe_ || counted_)) {
        const std::lock_guard lock{cooldown_->mutex_};
        if (counted_) {
            cooldown_->pace_.lost(scout_);
            cooldown_->call_first();
        }
        if (probe_ && era_ == cooldown_->era_.load(std::memory_order_relaxed))
            cooldown_->settle_probe(false, {});
    }
    probe_ = counted_ = scout_ = false;
    cooldown_.reset();
}

void Cooldown::Pass::adapt(const std::optional<LearnedPace::Told>& told, SteadyTime now) {
    if (!counted_)
        return;
    const std::lock_guard lock{cooldown_->mutex_};
    cooldown_->pace_.answered(scout_, told, now);
    cooldown_->call_first();
    counted_ = scout_ = false;
}

bool Cooldown::Pass::still_good() const noexcept {
    return era_ == cooldown_->era_.load(std::memory_order_acquire);
}

void Cooldown::Pass::answered(
    const std::optional<Asked>& asked, SteadyTime now, const CooldownRules& rules) {
    if (!asked && !probe_)
        return; // an answer that asks for no pause
    {
        const std::lock_guard lock{cooldown_->mutex_};
        // A pause that has begun in the meantime has made the probe an ordinary request.
        const bool probe = probe_ && era_ == cooldown_->era_.load(std::memory_order_relaxed);
        cooldown_->ramp_ = rules.ramp;
        if (asked)
            cooldown_->throttled(*asked, probe, now, rules);
        else if (probe)
            cooldown_->settle_probe(true, now);
    }
    probe_ = false;
}

Duration Cooldown::told(const Pass::Asked& asked, SteadyTime now, const CooldownRules& rules) {
    const std::lock_guard lock{mutex_};
    ramp_ = rules.ramp;
    throttled(asked, false, now, rules);
    return phase_ == Phase::paused ? std::max(until_ - now, Duration::zero()) : Duration::zero();
}

std::optional<Cooldown::Refused> Cooldown::look(SteadyTime now, const CooldownRules& rules) {
    const std::lock_guard lock{mutex_};
    return closed_to_new(now, rules);
}

Cooldown::Entry
Cooldown::enter(const CooldownPtr& cooldown, SteadyTime now, const CooldownRules& rules) {
    const std::lock_guard lock{cooldown->mutex_};
    if (const auto refused = cooldown->closed_to_new(now, rules))
        return {{}, *refused};
    return {cooldown->grant(cooldown, now, rules), {}};
}

Cooldown::Pass
Cooldown::grant(const CooldownPtr& self, SteadyTime now, const CooldownRules& rules) {
    const bool probe = phase_ == Phase::paused;
    if (probe)
        phase_ = Phase::probing;
    if (phase_ == Phase::ramping)
        next_ = now + SendRate::interval(rate_at(now));
    sent_.count(now);
    last_sent_ = std::max(now, last_sent_);
    Pass pass{self, era_.load(std::memory_order_relaxed), probe};
    if (rules.learn) {
        pass.counted_ = true;
        pass.scout_ = pace_.sent(now);
    }
    return pass;
}

CooldownState::Phase Cooldown::phase_at(SteadyTime now, Duration ramp) const noexcept {
    return phase_ == Phase::ramping && now - ramp_from_ >= ramp ? Phase::open : phase_;
}

void Cooldown::end_ramp(SteadyTime now, const CooldownRules& rules) noexcept {
    if (phase_ == Phase::ramping)
        ramp_ = rules.ramp;
    phase_ = phase_at(now, rules.ramp);
}

std::optional<Cooldown::Refused>
Cooldown::closed(SteadyTime now, const CooldownRules& rules) const noexcept {
    const Phase phase = phase_at(now, rules.ramp);
    Duration wait{};
    switch (phase) {
    case Phase::open:
        break;
    case Phase::paused:
        wait = until_ - now;
        break;
    case Phase::probing:
        wait = while_probing;
        break;
    case Phase::ramping:
        wait = std::min(next_, ramp_from_ + rules.ramp) - now;
    }
    bool paced = false;
    if (rules.learn)
        if (const Duration pace = pace_.wait(now); pace > wait) {
            wait = pace;
            paced = phase == Phase::open;
        }
    if (wait <= Duration::zero())
        return std::nullopt;
    return Refused{paced ? too_many_requests : status_, std::max(wait, shortest_wait), paced};
}

double Cooldown::rate_at(SteadyTime now) const noexcept {
    return rate_after(now - ramp_from_);
}

// Returns half of the former rate at the begin of the ramp, rising to all of it at the end.
double Cooldown::rate_after(Duration ramped) const noexcept {
    if (ramp_ <= Duration::zero())
        return former_rate_;
    const double part = std::clamp(in_seconds(ramped) / in_seconds(ramp_), 0.0, 1.0);
    return former_rate_ * (0.5 + 0.5 * part);
}

void Cooldown::throttled(
    const Pass::Asked& asked, bool probe, SteadyTime now, const CooldownRules& rules) {
    std::optional<Duration> wait = asked.wait ? asked.wait : rules.otherwise;
    // If the upstream refuses the probe without naming a time, the last pause was too short and is
    // repeated.
    if (!wait && probe)
        wait = last_wait_;
    if (!wait || (*wait <= Duration::zero() && !probe))
        return;
    pause(asked.status, std::min(*wait, rules.most), now);
    elsewhere_ = false;
    if (exchange_)
        exchange_->tell(name_, {status_, until_});
}

void Cooldown::share_by(PauseExchangePtr exchange, const Hash128& name) noexcept {
    const std::lock_guard lock{mutex_};
    exchange_.swap(exchange);
    name_ = name;
    if (exchange_ && phase_ == Phase::paused && !elsewhere_)
        exchange_->tell(name_, {status_, until_});
}

void Cooldown::learn(const SharedPause& told, SteadyTime now) {
    const std::lock_guard lock{mutex_};
    if (told.end <= now || (phase_ == Phase::paused && until_ >= told.end))
        return;
    pause(told.status, told.end - now, now);
    elsewhere_ = true;
}

void Cooldown::pause(int status, Duration wait, SteadyTime now) {
    status_ = status;
    // Wakes all waiters: some may have a deadline before the pause ends.
    call_all();
    if (phase_ == Phase::paused) { // the answered request was sent before the pause
        until_ = std::max(until_, now + wait);
        last_wait_ = std::max(last_wait_, wait);
        return;
    }
    if (phase_ == Phase::open)
        former_rate_ = sent_.per_second(now);
    else if (phase_ == Phase::ramping)
        former_rate_ = rate_at(now);
    phase_ = Phase::paused;
    until_ = now + wait;
    last_wait_ = wait;
    ++pauses_;
    era_.fetch_add(1, std::memory_order_release);
}

void Cooldown::settle_probe(bool good, SteadyTime now) noexcept {
    call_first();
    if (!good) { // the next request is the probe
        phase_ = Phase::paused;
        until_ = {};
        return;
    }
    phase_ = Phase::ramping;
    ramp_from_ = now;
    next_ = now;
}

CooldownState Cooldown::state(SteadyTime now) const {
    const std::lock_guard lock{mutex_};
    CooldownState state;
    state.of = of_;
    state.phase = phase_at(now, ramp_);
    state.status = state.phase == Phase::open ? 0 : status_;
    state.left = phase_ == Phase::paused ? std::max(until_ - now, Duration::zero()) : Duration{};
    state.rate = state.phase == Phase::ramping ? rate_at(now)
                 : state.phase == Phase::open  ? sent_.per_second(now)
                                               : former_rate_;
    state.pauses = pauses_;
    state.refused = refused_;
    state.waiting = line_.size();
    state.elsewhere = elsewhere_ && state.phase == Phase::paused;
    return state;
}

bool Cooldown::is_idle(SteadyTime now) const {
    const std::lock_guard lock{mutex_};
    return phase_at(now, ramp_) == Phase::open && now - last_sent_ >= forgettable;
}

} // namespace stint::limits
