// The timer thread of the admission queue and of leases: calls AdmissionQueue::open() when queued
// requests may go on, and LockManager::expire() when leases expire.
#pragma once

#include "base/time.hpp"
#include "limits/queue/admission_queue.hpp"
#include "limits/registry.hpp"
#include "locks/lock_manager.hpp"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace stint::runtime {

// Owns the timer thread, the admission queue and the lock manager. Workers' own timers would be up
// to 50 ms late. A queued request that waits for a returned permit is admitted by the thread that
// returns the permit, not by this one. Must outlive every worker.
class QueueTimerThread final : private limits::WakeupScheduler {
  public:
    // registry: must outlive this object. started: wall time of the start.
    QueueTimerThread(limits::Registry& registry, WallTime started);
    ~QueueTimerThread();
    QueueTimerThread(const QueueTimerThread&) = delete;
    QueueTimerThread& operator=(const QueueTimerThread&) = delete;

    // Admits no queued request and ends no lease from now on, until go_on(). Waits until the thread
    // does neither.
    void hold();
    void go_on();

    [[nodiscard]] limits::AdmissionQueue& queue() noexcept { return queue_; }
    [[nodiscard]] locks::LockManager& locks() noexcept { return locks_; }
    [[nodiscard]] const locks::LockManager& locks() const noexcept { return locks_; }

  private:
    void schedule(SteadyTime at) noexcept override;
    void run_now() noexcept override;
    void end_opening() noexcept;
    void run();

    std::mutex mutex_;
    std::condition_variable rung_;
    SteadyTime next_ = SteadyTime::max();
    bool stopping_ = false;
    bool held_ = false;
    std::size_t opening_ = 0; // threads that are in AdmissionQueue::open() or LockManager::expire()
    limits::AdmissionQueue queue_{*this};
    locks::LockManager locks_; // when a lease expires, a request in queue_ may take its slot
    std::thread thread_;
};

} // namespace stint::runtime
