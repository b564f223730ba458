// Every limit that exists, by identity: how counts survive a reload.
#pragma once

#include "limits/cooldown/cooldown_set.hpp"
#include "limits/limit.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace stint::limits {

class Registry {
  public:
    // The limit of this identity: the one that is alive (whoever still uses it shares its counts),
    // else a new one. Its max_keys becomes the spec's. Thread-safe.
    [[nodiscard]] LimitPtr obtain(const LimitSpec& spec);

    // `made` is called with each limit that obtain() makes, before anybody else has it: where it
    // gets the counts of a former process. On the thread that asks for it, under the registry's
    // lock. Set before the first obtain().
    void on_made(std::function<void(Limit&)> made) { made_ = std::move(made); }

    // Those that are alive. Whoever holds them last frees them.
    [[nodiscard]] std::vector<LimitPtr> alive() const;

    // Replaces what the registry itself keeps alive; a limit that is in no snapshot and not here
    // ends with the last request that holds a slot of it.
    void keep(std::vector<LimitPtr> limits);

    [[nodiscard]] CooldownRegistry& cooldowns() noexcept { return cooldowns_; }

    // For client keys. One random key a process, but where counts go on from a former one.
    [[nodiscard]] const KeyHasher& hasher() const noexcept { return hasher_; }
    // Before anything was hashed, and before another thread runs that may.
    void use(const KeyHasher& hasher) noexcept { hasher_ = hasher; }

  private:
    mutable std::mutex mutex_;
    std::map<LimitIdentity, std::weak_ptr<Limit>> known_;
    std::size_t sweep_from_ = 16; // how many there are before those that are gone are forgotten
    std::vector<LimitPtr> kept_;
    CooldownRegistry cooldowns_;
    KeyHasher hasher_;
    std::function<void(Limit&)> made_;
};

} // namespace stint::limits
