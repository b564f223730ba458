// Requests of one worker that wait for their turn before a limit, and how they hear of it.
#pragma once

#include "base/time.hpp"
#include "limits/queue/admission_queue.hpp"
#include "net/event.hpp"
#include "net/types.hpp"
#include "routing/charges.hpp"

namespace stint::proxy {

class WorkerWakeups;

// One request's wait. The exchange owns it and ends it before itself; until then the exchange's
// configuration keeps the limits alive that it waits for.
class QueuedRequest : public limits::Waiter {
  public:
    explicit QueuedRequest(WorkerWakeups& wakeups);
    ~QueuedRequest(); // leaves the room; what it was given and nobody has taken goes back

    [[nodiscard]] limits::AdmissionQueue& queue() noexcept { return queue_; }

    routing::Charges asked; // whom it counts against

    // co_await turn.over.wait() until is_over: it has been decided, or given up.
    net::Event over;
    bool is_over = false;

  private:
    limits::AdmissionQueue& queue_;
};

// One per worker. What is decided on any thread is collected and told on the worker's.
class WorkerWakeups final : public limits::Mailbox {
  public:
    WorkerWakeups(limits::AdmissionQueue& room, net::Executor executor);
    ~WorkerWakeups() = default;

    [[nodiscard]] limits::AdmissionQueue& queue() noexcept { return queue_; }

    // The request's client has gone: its place is free at once, and it is over with the worker's
    // next turn of its loop, not within this call.
    void give_up(QueuedRequest& queued) noexcept;

    // Resumes all that are over. Called by ring() through the loop, and with every tick in case
    // there was no memory for that.
    void resume_decided() noexcept;

  private:
    void notify() noexcept override;
    void post_tell() noexcept;

    limits::AdmissionQueue& queue_;
    net::Executor executor_;
    limits::Waiters over_; // the worker's own
};

} // namespace stint::proxy
