#include "runtime/upgrade/handed_pauses.hpp"

namespace stint::runtime {

void HandedPauses::join_all(const std::shared_ptr<HandedPauses>& self, SteadyTime now) {
    for (const limits::CooldownSetPtr& each : self->registry_.cooldowns().alive())
        if (!each->is_shared())
            each->share_by(self, now);
}

void HandedPauses::add(const HandedPause& pause, SteadyTime now) {
    {
        const std::lock_guard lock{mutex_};
        known_[{pause.of, pause.digest}] = pause.pause;
    }
    if (!pause.key)
        return; // a request of this key will find it
    for (const limits::CooldownSetPtr& each : registry_.cooldowns().alive())
        if (each->identity() == pause.of)
            each->of(pause.key->first, pause.key->second, now)->learn(pause.pause, now);
}

void HandedPauses::end() {
    for (const limits::CooldownSetPtr& each : registry_.cooldowns().alive())
        if (!each->is_shared())
            each->share_by(nullptr, {});
    const std::lock_guard lock{mutex_};
    known_.clear();
}

Hash128 HandedPauses::join(
    const limits::CooldownIdentity& identity,
    const Hash128& digest,
    const std::shared_ptr<limits::Cooldown>& cooldown,
    SteadyTime now) {
    limits::SharedPause pause;
    {
        const std::lock_guard lock{mutex_};
        if (const auto known = known_.find({identity, digest}); known != known_.end())
            pause = known->second;
    }
    if (pause.end > now)
        cooldown->learn(pause, now);
    return digest;
}

void HandedPauses::tell(const Hash128& /*name*/, const limits::SharedPause& /*pause*/) noexcept {}

} // namespace stint::runtime
