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
    // Returns the limit of this identity: the live one (all its users share its counts), else a new
    // one. Its max_keys becomes the spec's. Thread-safe.
    [[nodiscard]] LimitPtr obtain(const LimitSpec& spec);

    // Sets the callback for each limit that obtain() makes, before the limit has any other user:
    // there it gets the counts of a former process. Called on obtain()'s thread, under the
    // registry's lock. Set before the first obtain().
    void on_made(std::function<void(Limit&)> made) { made_ = std::move(made); }

    // Returns all live limits. The last holder frees a limit.
    [[nodiscard]] std::vector<LimitPtr> alive() const;

    // Replaces the limits that the registry itself keeps alive; a limit that is in no snapshot and
    // not here ends with the last request that holds a slot of it.
    void keep(std::vector<LimitPtr> limits);

    [[nodiscard]] CooldownRegistry& cooldowns() noexcept { return cooldowns_; }

    // The hasher of client keys. One random key a process, unless counts go on from a former one.
    [[nodiscard]] const KeyHasher& hasher() const noexcept { return hasher_; }
    // Replaces the hasher. Call before anything is hashed, and before another thread runs that may.
    void use(const KeyHasher& hasher) noexcept { hasher_ = hasher; }

  private:
    mutable std::mutex mutex_;
    std::map<LimitIdentity, std::weak_ptr<Limit>> known_;
    std::size_t sweep_from_ = 16; // size at which dead entries are dropped
    std::vector<LimitPtr> kept_;
    CooldownRegistry cooldowns_;
    KeyHasher hasher_;
    std::function<void(Limit&)> made_;
};

} // namespace stint::limits
