// One request's wait for a free slot on an endpoint of its upstream.
#pragma once

#include "base/time.hpp"
#include "net/types.hpp"
#include "net/wait.hpp"
#include "server/wait_slots.hpp"
#include "upstream/endpoint_queue.hpp"

#include <cstddef>

namespace stint::proxy {

// Owned by the exchange, on its worker's thread; call() comes from any thread.
class EndpointWait final : public upstream::EndpointWaiter {
  public:
    // slots: those of the request's connection; may be null.
    EndpointWait(
        upstream::EndpointQueue& queue,
        const net::Executor& executor,
        SteadyTime until,
        server::WaitSlots* slots)
        : queue_{queue}, wait_{executor}, until_{until}, slot_{slots} {}
    ~EndpointWait() { queue_.leave(*this); }

    [[nodiscard]] bool join(std::size_t most) { return slot_.take() && queue_.join(*this, most); }
    [[nodiscard]] bool is_first() const noexcept { return queue_.is_first(*this); }
    // Returns the instant at which the wait ends at the latest.
    [[nodiscard]] SteadyTime until() const noexcept { return until_; }
    // Waits until the queue calls this waiter, or until `at`.
    [[nodiscard]] net::Task<net::Wait::End> until_called(SteadyTime at) { return wait_.until(at); }

    // Leaves the queue and frees the slot at once; the wait ends with a later turn of the event
    // loop.
    void give_up() noexcept {
        queue_.leave(*this);
        slot_.free();
        wait_.wake();
    }

  private:
    void call() noexcept override { wait_.wake(); }

    upstream::EndpointQueue& queue_;
    net::Wait wait_;
    const SteadyTime until_;
    server::WaitSlot slot_;
};

} // namespace stint::proxy
