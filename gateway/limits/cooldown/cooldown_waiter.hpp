// One request that waits for a closed scope, and the queue that it waits in.
#pragma once

#include "base/time.hpp"

#include <boost/intrusive/list.hpp>

#include <optional>

namespace stint::limits {

// Owned by the waiting request: it must have left (Cooldown::leave) before it is destroyed. While
// it is queued, everything in it belongs to the scope.
class CooldownWaiter : public boost::intrusive::list_base_hook<> {
  public:
    CooldownWaiter() = default;
    CooldownWaiter(const CooldownWaiter&) = delete;
    CooldownWaiter& operator=(const CooldownWaiter&) = delete;

    // Calls the waiter to ask again: it is the first in the queue by now, or its reason to wait has
    // changed. Any thread, with the scope's lock held: it must not call back. May be called
    // needlessly.
    virtual void call() noexcept = 0;

  protected:
    ~CooldownWaiter() = default;

  private:
    friend class Cooldown;

    std::optional<SteadyTime> deadline_; // from its first attempt; stays when it comes again
};

// In order of arrival.
using CooldownQueue = boost::intrusive::list<CooldownWaiter>;

} // namespace stint::limits
