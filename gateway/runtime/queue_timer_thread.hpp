// The clock of those who wait before limits, and of leases: calls AdmissionQueue::open() at the
// very instant of each opening, and LockManager::expire() at that of each end, from a thread of its
// own.
#pragma once

#include "base/time.hpp"
#include "limits/queue/admission_queue.hpp"
#include "limits/registry.hpp"
#include "locks/lock_manager.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace stint::runtime {

// A worker's tick would be up to 50 ms late. Where something was given back for which somebody
// waits, whoever gave it back lets the next one in. Outlives every worker.
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
    locks::LockManager locks_; // frees slots for which somebody may wait
    std::thread thread_;
};

} // namespace stint::runtime
