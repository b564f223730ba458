// The slots that requests in flight in the former process hold, and what they give back.
#pragma once

#include "base/time.hpp"
#include "limits/limit.hpp"
#include "limits/permit.hpp"
#include "limits/registry.hpp"
#include "runtime/upgrade/messages.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace stint::runtime {

// Its end frees all slots. Used on one thread. The registry must outlive it.
class HeldSlots {
  public:
    explicit HeldSlots(const limits::Registry& registry);

    // Takes the slots in the limits of the same identity, even above their numbers. A slot of a
    // limit that is no more is not taken.
    void take(const std::vector<HeldSlot>& slots, const Now& now);
    // Frees slots, or gives a part of a charge back to its window. No effect on what is not known.
    void give_back(const GivenBack& given, const Now& now);
    // Returns the limit of this identity (key_of()); null if there is none.
    [[nodiscard]] limits::LimitPtr limit(const std::string& identity) const;
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

  private:
    struct Cap {
        limits::LimitPtr limit; // before the permits, which it outlives
        std::vector<limits::Permit> permits;
    };

    std::map<std::string, limits::LimitPtr> limits_; // by key_of()
    std::map<std::pair<std::string, Hash128>, Cap> held_;
    std::size_t size_ = 0;
};

} // namespace stint::runtime
