// Every limit that exists, by identity: how counts survive a reload.
#pragma once

#include "limits/cooldown_set.hpp"
#include "limits/limit.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace stint::limits {

class Registry {
  public:
    // The limit of this identity: the one that is alive (whoever still uses it shares its counts),
    // else a new one. Its max_keys becomes the spec's. Thread-safe.
    [[nodiscard]] LimitPtr obtain(const LimitSpec& spec);

    // Replaces what the registry itself keeps alive; a limit that is in no snapshot and not here
    // ends with the last request that holds a slot of it.
    void keep(std::vector<LimitPtr> limits);

    [[nodiscard]] CooldownRegistry& cooldowns() noexcept { return cooldowns_; }

    // For client keys, one random key a process.
    [[nodiscard]] const KeyHasher& hasher() const noexcept { return hasher_; }

  private:
    std::mutex mutex_;
    std::map<LimitIdentity, std::weak_ptr<Limit>> known_;
    std::vector<LimitPtr> kept_;
    CooldownRegistry cooldowns_;
    KeyHasher hasher_;
};

} // namespace stint::limits
