// The slots that one admitted request holds in concurrency caps. Destroying it frees them.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <boost/container/small_vector.hpp>

namespace stint::limits {

class Limit;

// Move-only. The limits it points to must outlive it (a request keeps its snapshot, which owns
// them). Threads: one owner at a time; release may race with any admission.
class Permit {
  public:
    Permit() = default;
    Permit(Permit&& other) noexcept;
    Permit& operator=(Permit&& other) noexcept;
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit() { drop(); }

    // Frees the slots and teaches each cap how long its slot was held, from which it estimates
    // Retry-After. Idempotent. The destructor frees without teaching.
    void release(const Now& now) noexcept;

    [[nodiscard]] bool holds_slots() const noexcept { return !held_.empty(); }

  private:
    friend class Admission;

    struct Held {
        Limit* limit;
        Hash128 key;
    };

    void drop() noexcept;

    boost::container::small_vector<Held, 2> held_;
    SteadyTime since_{};
};

} // namespace stint::limits
