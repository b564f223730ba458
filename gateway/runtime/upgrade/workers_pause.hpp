// A pause of all workers' threads, in which nothing is decided.
#pragma once

#include "base/time.hpp"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

namespace stint::runtime {

// Thread-safe. A worker that reaches wait() after the end does not stop.
class WorkersPause {
  public:
    // The workers' orders for the end of the pause. Without `drained` they go on as before. Else
    // they hand their connections over to Totals::successor, and drain.
    struct Orders {
        Duration drain{};                    // requests in flight get so long
        std::function<void()> handed_over{}; // called on each worker's thread, once
        std::function<void()> drained{};     // as in Worker::drain()
    };

    // Called on a worker's thread: stops it until end().
    [[nodiscard]] Orders wait() {
        std::unique_lock lock{mutex_};
        ++waiting_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return ended_; });
        return orders_;
    }

    // Waits until so many workers have stopped. False: they have not within `most`.
    [[nodiscard]] bool await(std::size_t workers, Duration most) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, most, [&] { return waiting_ >= workers; });
    }

    // Ends the pause. Idempotent: the first call counts.
    void end(Orders orders) {
        {
            const std::lock_guard lock{mutex_};
            if (std::exchange(ended_, true))
                return;
            orders_ = std::move(orders);
        }
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t waiting_ = 0;
    bool ended_ = false;
    Orders orders_;
};

} // namespace stint::runtime
