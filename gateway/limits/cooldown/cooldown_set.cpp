#include "limits/cooldown/cooldown_set.hpp"

#include <chrono>
#include <cstring>
#include <utility>

namespace stint::limits {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t longest_text = 256;
constexpr Duration between_scans = 1s; // each scan visits the whole set

} // namespace

Hash128 digest_of(std::string_view text) noexcept {
    Hash128 digest;
    const KeyHasher::Key bytes = key_of_secret(text);
    std::memcpy(&digest.high, bytes.data(), sizeof digest.high);
    std::memcpy(&digest.low, bytes.data() + sizeof digest.high, sizeof digest.low);
    return digest;
}

CooldownPtr CooldownSet::of(const Hash128& key, std::string_view text, SteadyTime now) {
    const std::lock_guard lock{mutex_};
    if (const auto found = known_.find(key); found != known_.end())
        return found->second.cooldown;
    if (is_full() && now >= next_look_)
        forget_idle(now);
    if (is_full()) {
        if (!shared_)
            shared_ = std::make_shared<Cooldown>("(all others)");
        return shared_;
    }
    const Scope made{
        std::make_shared<Cooldown>(std::string{text.substr(0, longest_text)}), digest_of(text)};
    if (exchange_)
        join(made, exchange_, now);
    known_.emplace(key, made);
    return made.cooldown;
}

void CooldownSet::join(const Scope& scope, const PauseExchangePtr& exchange, SteadyTime now) const {
    const Hash128 name = exchange->join(identity_, scope.digest, scope.cooldown, now);
    scope.cooldown->share_by(exchange, name);
}

bool CooldownSet::is_shared() const {
    const std::lock_guard lock{mutex_};
    return exchange_ != nullptr && exchange_->joins_gateways();
}

void CooldownSet::share_by(const PauseExchangePtr& exchange, SteadyTime now) {
    const std::lock_guard lock{mutex_};
    if (exchange == exchange_)
        return;
    for (const auto& [key, scope] : known_)
        if (exchange)
            join(scope, exchange, now);
        else
            scope.cooldown->share_by(nullptr, {});
    exchange_ = exchange; // last: without memory for one of them all are tried again
}

CooldownPtr CooldownSet::find(const Hash128& key) const {
    const std::lock_guard lock{mutex_};
    if (const auto found = known_.find(key); found != known_.end())
        return found->second.cooldown;
    return is_full() ? shared_ : nullptr;
}

// Drops idle cool-downs, and adds their totals to forgotten_. Keeps those that a request still
// points to: its answer may begin a pause.
void CooldownSet::forget_idle(SteadyTime now) {
    next_look_ = now + between_scans;
    std::erase_if(known_, [&](const auto& each) {
        const CooldownPtr& cooldown = each.second.cooldown;
        if (cooldown.use_count() > 1 || !cooldown->is_idle(now))
            return false;
        const CooldownState state = cooldown->state(now);
        forgotten_.pauses += state.pauses;
        forgotten_.refused += state.refused;
        return true;
    });
}

CooldownSet::Totals CooldownSet::totals(SteadyTime now) const {
    const std::vector<CooldownPtr> cooldowns = all();
    Totals totals;
    {
        const std::lock_guard lock{mutex_};
        totals = forgotten_;
    }
    for (const CooldownPtr& each : cooldowns) {
        const CooldownState state = each->state(now);
        const bool closed = state.phase == CooldownState::Phase::paused ||
                            state.phase == CooldownState::Phase::probing;
        totals.closed += closed ? 1 : 0;
        totals.pauses += state.pauses;
        totals.refused += state.refused;
        totals.waiting += state.waiting;
    }
    return totals;
}

std::vector<std::pair<Hash128, CooldownPtr>> CooldownSet::by_key() const {
    const std::lock_guard lock{mutex_};
    std::vector<std::pair<Hash128, CooldownPtr>> cooldowns;
    for (const auto& [key, scope] : known_)
        cooldowns.emplace_back(key, scope.cooldown);
    return cooldowns;
}

std::vector<CooldownPtr> CooldownSet::all() const {
    const std::lock_guard lock{mutex_};
    std::vector<CooldownPtr> cooldowns;
    for (const auto& [key, scope] : known_)
        cooldowns.push_back(scope.cooldown);
    if (shared_)
        cooldowns.push_back(shared_);
    return cooldowns;
}

CooldownSetPtr CooldownRegistry::obtain(const CooldownIdentity& identity) {
    const std::lock_guard lock{mutex_};
    return known_.obtain(identity, [&] { return std::make_shared<CooldownSet>(identity); });
}

std::vector<CooldownSetPtr> CooldownRegistry::alive() const {
    const std::lock_guard lock{mutex_};
    return known_.alive();
}

} // namespace stint::limits
