// One request's wait for a place on an endpoint of its upstream.
#pragma once

#include "base/time.hpp"
#include "net/alarm.hpp"
#include "net/types.hpp"
#include "upstream/endpoint_queue.hpp"

#include <cstddef>
#include <memory>

namespace stint::proxy {

// Owned by the exchange, on its worker's thread; call() comes from any thread.
class EndpointWait final : public upstream::EndpointWaiter {
  public:
    EndpointWait(upstream::EndpointQueue& queue, const net::Executor& executor, SteadyTime until)
        : queue_{queue}, alarm_{std::make_shared<net::Alarm>(executor)}, until_{until} {}
    ~EndpointWait() { queue_.leave(*this); }

    [[nodiscard]] bool join(std::size_t most) { return queue_.join(*this, most); }
    [[nodiscard]] bool is_first() const noexcept { return queue_.is_first(*this); }
    // Returns the instant at which the wait ends at the latest.
    [[nodiscard]] SteadyTime until() const noexcept { return until_; }
    [[nodiscard]] net::Task<> sleep_until(SteadyTime at) { return alarm_->sleep_until(at); }

    // Leaves the queue at once; a sleep ends with a later turn of the event loop.
    void give_up() noexcept {
        queue_.leave(*this);
        alarm_->ring();
    }

  private:
    void call() noexcept override { alarm_->ring(); }

    upstream::EndpointQueue& queue_;
    const std::shared_ptr<net::Alarm> alarm_;
    const SteadyTime until_;
};

} // namespace stint::proxy
