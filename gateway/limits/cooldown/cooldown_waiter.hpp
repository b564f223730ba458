// One request that waits for a scope that is closed, and the line that it stands in.
#pragma once

#include "base/time.hpp"

#include <boost/intrusive/list.hpp>

#include <optional>

namespace stint::limits {

// Owned by whoever waits: it must have left (Cooldown::leave) before it ends. While it stands in
// line everything in it belongs to the scope.
class CooldownWaiter : public boost::intrusive::list_base_hook<> {
  public:
    CooldownWaiter() = default;
    CooldownWaiter(const CooldownWaiter&) = delete;
    CooldownWaiter& operator=(const CooldownWaiter&) = delete;

    // It is to ask again: it is the first in line by now, or what it waits for has changed. Any
    // thread, with the scope's lock held: it must not call back. May be called for nothing.
    virtual void call() noexcept = 0;

  protected:
    ~CooldownWaiter() = default;

  private:
    friend class Cooldown;

    std::optional<SteadyTime> deadline_; // from its first attempt; stays when it comes again
};

// In the order they came.
using CooldownQueue = boost::intrusive::list<CooldownWaiter>;

} // namespace stint::limits
