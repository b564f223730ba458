// One request's wait for the store of a lock that gateways share.
#pragma once

#include "base/time.hpp"
#include "limits/permit.hpp"
#include "limits/shared/share_requests.hpp"
#include "locks/lock.hpp"
#include "net/types.hpp"
#include "proxy/admission/share_wakeup.hpp"

namespace stint::permits {

// Asks for a larger share of the lock, or for fencing numbers: for whom no request waits. Without
// memory the next request asks. Requires: the lock has a store.
void ask_store(limits::ShareRequests& of, const locks::Lock& lock) noexcept;

// Used on the worker's thread. Destroying it ends the wait, and frees the slot that waits with it.
class StoreAnswer final : private limits::ShareRequests::Request {
  public:
    explicit StoreAnswer(const net::Executor& executor) noexcept : wakeup_{executor} {}

    // Asks as ask_store(), and begins to wait for the answer, until then at most. Throws
    // std::bad_alloc with nothing changed.
    void ask(limits::ShareRequests& of, const locks::Lock& lock, SteadyTime until);
    // Asks for fencing numbers for this slot. After a failure it pauses before it asks again.
    void ask_for(
        limits::Permit slot,
        limits::ShareRequests& of,
        const locks::Lock& lock,
        const Now& now,
        SteadyTime until);
    // True from ask() to end().
    [[nodiscard]] bool waits() const noexcept { return wakeup_.is_begun(); }
    [[nodiscard]] net::Task<> until_answered() { return wakeup_.until_answered(); }
    // Ends the wait with a later turn of the event loop.
    void give_up() noexcept { wakeup_.give_up(); }
    // Ends the wait. Returns the slot of ask_for(), or nothing.
    [[nodiscard]] limits::Permit end() noexcept;

    // Forgets that a store was asked: the next one is another lock's.
    void forget() noexcept { asked_ = told_ = false; }
    // True once ask() was called.
    [[nodiscard]] bool asked() const noexcept { return asked_; }
    // True if the store was asked last, and has not answered.
    [[nodiscard]] bool failed() const noexcept { return asked_ && !told_; }

  private:
    void answered(limits::ShareAnswer answer) noexcept override;

    proxy::ShareWakeup wakeup_;
    limits::Permit slot_;
    bool asked_ = false;
    bool told_ = false;
};

} // namespace stint::permits
