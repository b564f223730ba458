// A coroutine's wait that any thread can end: for its turn, for the end of a pause, for a place, or
// for a write to disk. It knows no reason to wait; its owner looks at that when it has ended.
#pragma once

#include "base/time.hpp"
#include "net/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/intrusive/list.hpp>

#include <chrono>
#include <cstdint>

namespace stint::net {

class WakeQueue;

// Owned by the waiting coroutine, or by something that outlives its wait. Threads: the event
// loop's, except for wake(). Only until() allocates.
class Wait : public boost::intrusive::list_base_hook<> {
  public:
    enum class End : std::uint8_t { woken, cancelled, timed_out };

    explicit Wait(const Executor& executor);
    // Requires: no wake() runs now, or comes later.
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    // Ends the wait, or the next one if there is none now; any number of calls before it has ended
    // count as one. Any thread, as long as the event loop lives. The coroutine resumes with a later
    // turn of its loop, not within this call; so it may be called with a lock held.
    void wake() noexcept;

    // Ends the wait, and every later one at once. Neither does it resume within this call.
    void cancel() noexcept;
    [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_; }

    // Waits until wake(), cancel() or the deadline, and tells which one it was: `cancelled` if that
    // is among them, else `woken`. A wake-up that came before is used up. One coroutine at a time.
    [[nodiscard]] Task<End> until(SteadyTime deadline);
    // The same without a deadline.
    [[nodiscard]] Task<End> until_woken() { return until(SteadyTime::max()); }

  private:
    friend class WakeQueue;
    using Timer = asio::basic_waitable_timer<
        std::chrono::steady_clock,
        asio::wait_traits<std::chrono::steady_clock>,
        Executor>;

    void interrupt() noexcept;

    WakeQueue& queue_; // its event loop has one
    Timer timer_;
    bool woken_ = false;
    bool cancelled_ = false;
};

} // namespace stint::net
