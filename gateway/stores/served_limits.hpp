// The limits that a store divides: whether their shares may be used, and whether the store can be
// asked for more.
#pragma once

#include "base/time.hpp"
#include "limits/limit.hpp"
#include "limits/shared/on_store_failure.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace stint::stores {

// Thread-safe. Keeps no limit alive.
class ServedLimits {
  public:
    // How things stand with the store.
    struct Standing {
        SteadyTime ends_at{}; // all shares end at this instant
        bool asking = false;  // the store can be asked for larger shares
        bool answers = false; // false: no share of OnStoreFailure::closed may be used

        friend bool operator==(const Standing&, const Standing&) = default;
    };

    // Adds a limit, or changes what a known one does without the store. A new one must have no
    // other user yet, unless another store has served it: from then on a key without a share admits
    // nothing. Throws std::bad_alloc.
    void add(const limits::LimitPtr& limit, limits::OnStoreFailure on_failure, SteadyTime now);
    // Applies to all limits, also to those that are added later. Wakes those who wait for a lock
    // whose share may be used again.
    void stand(const Standing& standing, SteadyTime now) noexcept;
    [[nodiscard]] std::size_t size() const noexcept;
    // Returns the limits that are locks. Throws std::bad_alloc.
    [[nodiscard]] std::vector<limits::LimitPtr> locks() const;

  private:
    struct Served {
        std::weak_ptr<limits::Limit> limit;
        limits::OnStoreFailure on_failure{};
    };

    void
    apply(limits::Limit& limit, limits::OnStoreFailure on_failure, SteadyTime now) const noexcept;

    mutable std::mutex mutex_;
    std::map<const limits::Limit*, Served> served_;
    Standing standing_;
    bool stood_ = false; // stand() was called: until then another store may serve the same limits
};

} // namespace stint::stores
