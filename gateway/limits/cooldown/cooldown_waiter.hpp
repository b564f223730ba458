// A request that waits for a closed scope of a cool-down, and the type of the queue.
#pragma once

#include "base/time.hpp"

#include <boost/intrusive/list.hpp>

#include <optional>

namespace stint::limits {

// A place in the queue of a Cooldown, owned by the waiting request. Call Cooldown::leave() before
// destroying it. While queued, its contents belong to the Cooldown.
class CooldownWaiter : public boost::intrusive::list_base_hook<> {
  public:
    CooldownWaiter() = default;
    CooldownWaiter(const CooldownWaiter&) = delete;
    CooldownWaiter& operator=(const CooldownWaiter&) = delete;

    // Tells the request to call Cooldown::attempt() again: the waiter may be the first now, or its
    // reason to wait has changed. Any thread, with the Cooldown's lock held: must not call the
    // Cooldown. Spurious calls are possible.
    virtual void call() noexcept = 0;

    // False: if the request has to wait, it is refused as if the queue were full. Set before the
    // first attempt().
    bool may_wait = true;

  protected:
    ~CooldownWaiter() = default;

  private:
    friend class Cooldown;

    std::optional<SteadyTime> deadline_; // set by the first attempt(), kept by later ones
};

// The waiters of one scope, in order of arrival.
using CooldownQueue = boost::intrusive::list<CooldownWaiter>;

} // namespace stint::limits
