// One request's wait for the store of a lock that gateways share.
#pragma once

#include "base/time.hpp"
#include "limits/shared/share_requests.hpp"
#include "locks/lock.hpp"
#include "net/types.hpp"
#include "proxy/admission/share_wakeup.hpp"

namespace stint::permits {

// Asks for a larger share of the lock, or for fencing numbers: for whom no request waits. Without
// memory the next request asks. Requires: the lock has a store.
void ask_store(limits::ShareRequests& of, const locks::Lock& lock) noexcept;

// Used on the worker's thread. Destroying it ends the wait.
class StoreAnswer final : private limits::ShareRequests::Request {
  public:
    explicit StoreAnswer(const net::Executor& executor) noexcept : wakeup_{executor} {}

    // Asks as ask_store(), and waits for the answer, until then at most. Throws std::bad_alloc.
    void ask(limits::ShareRequests& of, const locks::Lock& lock, SteadyTime until);
    // Waits without asking.
    void pause(SteadyTime until) { wakeup_.shares_asked(until); }
    [[nodiscard]] net::Task<> until_answered() { return wakeup_.until_answered(); }
    // Ends the wait with a later turn of the event loop.
    void give_up() noexcept { wakeup_.give_up(); }
    // True unless the store has answered.
    [[nodiscard]] bool failed() const noexcept { return !told_; }

  private:
    void answered(limits::ShareAnswer answer) noexcept override;

    proxy::ShareWakeup wakeup_;
    bool told_ = false;
};

} // namespace stint::permits
