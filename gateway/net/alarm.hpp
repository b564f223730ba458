// A sleep that any thread can end early.
#pragma once

#include "base/time.hpp"
#include "net/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <memory>

namespace stint::net {

// Held by a shared_ptr: what rings it may outlive whoever sleeps.
class Alarm : public std::enable_shared_from_this<Alarm> {
  public:
    explicit Alarm(const Executor& executor) : timer_{executor} {}

    // Ends the sleep, or the next one if nobody sleeps. Any thread, as long as the loop lives. The
    // sleeper goes on with a later turn of its loop, not within this call. Without memory for that
    // nothing happens.
    void ring() noexcept;

    // Until `at`, or until it rings. The loop's thread; one sleeper at a time, which keeps the
    // alarm alive.
    [[nodiscard]] Task<> sleep_until(SteadyTime at);

  private:
    using Timer = asio::basic_waitable_timer<
        std::chrono::steady_clock,
        asio::wait_traits<std::chrono::steady_clock>,
        Executor>;

    void stop() noexcept;

    Timer timer_;
    bool rung_ = false; // the loop's thread
};

} // namespace stint::net
