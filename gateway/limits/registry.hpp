// The registry of all live limits by identity, which keeps counts across reloads.
#pragma once

#include "base/live_objects.hpp"
#include "limits/cooldown/cooldown_set.hpp"
#include "limits/limit.hpp"

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace stint::limits {

class Registry {
  public:
    // Returns the limit of the spec's identity: the live one, whose counts all its users share,
    // else a new one. Sets its max_keys to the spec's. Thread-safe.
    [[nodiscard]] LimitPtr obtain(const LimitSpec& spec);

    // Sets a callback for each limit that obtain() makes. It restores a former process's counts
    // into the limit before the limit has any other user. Called on obtain()'s thread, under the
    // registry's lock. Set before the first obtain().
    void on_made(std::function<void(Limit&)> made) { made_ = std::move(made); }

    // Returns all live limits. Each is freed with the last pointer to it.
    [[nodiscard]] std::vector<LimitPtr> alive() const;

    // Replaces the limits that the registry itself keeps alive. Any other limit is freed with the
    // last snapshot or request that refers to it.
    void keep(std::vector<LimitPtr> limits);

    [[nodiscard]] CooldownRegistry& cooldowns() noexcept { return cooldowns_; }

    // The hasher of client keys. Its own key is random in each process, unless counts are restored
    // from a former process.
    [[nodiscard]] const KeyHasher& hasher() const noexcept { return hasher_; }
    // Replaces the hasher. Call before anything is hashed, and before any other thread starts to
    // use it.
    void use(const KeyHasher& hasher) noexcept { hasher_ = hasher; }

  private:
    mutable std::mutex mutex_;
    LiveObjects<LimitIdentity, Limit> known_;
    std::vector<LimitPtr> kept_;
    CooldownRegistry cooldowns_;
    KeyHasher hasher_;
    std::function<void(Limit&)> made_;
};

} // namespace stint::limits
