// The timer of admission queues and leases: calls AdmissionQueue::open() at the exact time of each
// opening, and LockManager::expire() at that of each expiry, from a thread of its own.
#pragma once

#include "base/time.hpp"
#include "limits/queue/admission_queue.hpp"
#include "limits/registry.hpp"
#include "locks/lock_manager.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace stint::runtime {

// The timer thread; a worker's tick would be up to 50 ms late. When a waiter's permit or slot is
// given back, the thread that gives it back admits the waiter. Outlives every worker.
class QueueTimerThread final : private limits::WakeupScheduler {
  public:
    // registry: outlives this.
    QueueTimerThread(limits::Registry& registry, WallTime started);
    ~QueueTimerThread();
    QueueTimerThread(const QueueTimerThread&) = delete;
    QueueTimerThread& operator=(const QueueTimerThread&) = delete;

    [[nodiscard]] limits::AdmissionQueue& queue() noexcept { return queue_; }
    [[nodiscard]] locks::LockManager& locks() noexcept { return locks_; }
    [[nodiscard]] const locks::LockManager& locks() const noexcept { return locks_; }

  private:
    void schedule(SteadyTime at) noexcept override;
    void run_now() noexcept override;
    void run();

    std::mutex mutex_;
    std::condition_variable rung_;
    SteadyTime next_ = SteadyTime::max();
    bool stopping_ = false;
    limits::AdmissionQueue queue_{*this};
    locks::LockManager locks_; // frees slots that a waiter may wait for
    std::thread thread_;
};

} // namespace stint::runtime
