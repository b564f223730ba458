// A sleep that any thread can end early.
#pragma once

#include "base/time.hpp"
#include "net/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <memory>

namespace stint::net {

// Held by a shared_ptr, because a thread that rings may outlive the coroutine that sleeps.
class Alarm : public std::enable_shared_from_this<Alarm> {
  public:
    explicit Alarm(const Executor& executor) : timer_{executor} {}

    // Ends the sleep, or the next one if there is no sleeper now. Threads: any, as long as the
    // event loop lives. The sleeper resumes with a later turn of its loop, not within this call.
    // Does nothing if memory is too short.
    void ring() noexcept;

    // Sleeps until `at`, or until ring(). Called on the event loop's thread, by one coroutine at a
    // time, which keeps the alarm alive.
    [[nodiscard]] Task<> sleep_until(SteadyTime at);

  private:
    using Timer = asio::basic_waitable_timer<
        std::chrono::steady_clock,
        asio::wait_traits<std::chrono::steady_clock>,
        Executor>;

    void stop() noexcept;

    Timer timer_;
    bool rung_ = false; // used on the event loop's thread alone
};

} // namespace stint::net
