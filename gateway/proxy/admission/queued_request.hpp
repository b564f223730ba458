// Requests of one worker that wait in the admission queue, and how they are resumed.
#pragma once

#include "admission/callbacks.hpp"
#include "base/time.hpp"
#include "limits/queue/admission_queue.hpp"
#include "net/types.hpp"
#include "net/wait.hpp"
#include "server/wait_slots.hpp"

namespace stint::proxy {

class WorkerWakeups;

// One request's wait in the admission queue. Must be destroyed before the configuration that owns
// the limits it waits for.
class QueuedRequest final : public admission::QueuedCharges {
  public:
    // slots: those of the request's connection; may be null. since: see Waiter::waiting_since.
    QueuedRequest(WorkerWakeups& wakeups, server::WaitSlots* slots, SteadyTime since = {});
    ~QueuedRequest(); // leaves the queue; refunds a permit that was not taken

    [[nodiscard]] limits::AdmissionQueue& queue() noexcept { return queue_; }

    // Waits until the queue has decided about the request, or WorkerWakeups has given it up.
    [[nodiscard]] net::Task<> wait();

  private:
    friend class WorkerWakeups;
    // Ends wait(), with a later turn of the event loop.
    void end() noexcept;

    limits::AdmissionQueue& queue_;
    net::Wait wait_;
    server::WaitSlot slot_;
    bool is_over_ = false;
};

// One per worker. Collects decisions made on any thread, and resumes their requests on the worker's
// thread.
class WorkerWakeups final : public limits::Mailbox {
  public:
    WorkerWakeups(limits::AdmissionQueue& queue, net::Executor executor);
    ~WorkerWakeups() = default;

    [[nodiscard]] limits::AdmissionQueue& queue() noexcept { return queue_; }
    [[nodiscard]] const net::Executor& executor() const noexcept { return executor_; }

    // Gives up a request whose client has gone. Its place in the queue is free at once; it resumes
    // with the next turn of the worker's event loop, not within this call.
    void give_up(QueuedRequest& queued) noexcept;

    // Resumes all requests that the queue has decided. notify() posts a call of this function.
    // Every tick calls it, too, in case memory was too short for that post.
    void resume_decided() noexcept;

  private:
    void notify() noexcept override;
    void post_resume() noexcept;

    limits::AdmissionQueue& queue_;
    net::Executor executor_;
};

} // namespace stint::proxy
