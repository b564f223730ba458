// A coroutine's wait that any thread can end, for example a wait for a turn in a queue, the end of
// a pause, or a write to disk. The owner knows the reason of the wait, and checks it when the wait
// has ended.
#pragma once

#include "base/time.hpp"
#include "net/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/intrusive/list.hpp>

#include <chrono>
#include <cstdint>

namespace stint::net {

class WakeQueue;

// Owned by the waiting coroutine, or by an object that outlives the wait. Used on the event loop's
// thread, except for wake(). Only until() allocates.
class Wait : public boost::intrusive::list_base_hook<> {
  public:
    enum class End : std::uint8_t { woken, cancelled, timed_out };

    explicit Wait(const Executor& executor);
    // Requires: no wake() is running or comes later.
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    // Ends the wait, or the next one if there is none now. Several calls before the wait has ended
    // count as one. May be called on any thread, as long as the event loop lives. The coroutine
    // resumes with a later turn of its loop, not within this call, so that the caller may hold a
    // lock.
    void wake() noexcept;

    // Ends the wait, and every later one at once. The coroutine does not resume within this call.
    void cancel() noexcept;
    [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_; }

    // Waits until wake(), cancel() or the deadline. Returns `cancelled` after any cancel(), else
    // `woken` after a wake(), also one from before this wait, else `timed_out`. One coroutine at a
    // time.
    [[nodiscard]] Task<End> until(SteadyTime deadline);
    // Waits as until() does, without a deadline.
    [[nodiscard]] Task<End> until_woken() { return until(SteadyTime::max()); }

  private:
    friend class WakeQueue;
    using Timer = asio::basic_waitable_timer<
        std::chrono::steady_clock,
        asio::wait_traits<std::chrono::steady_clock>,
        Executor>;

    void interrupt() noexcept;

    WakeQueue& queue_; // the only queue of its event loop
    Timer timer_;
    bool woken_ = false;
    bool cancelled_ = false;
};

} // namespace stint::net
