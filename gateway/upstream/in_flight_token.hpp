// A request's slot on an endpoint: it counts as one request in flight.
#pragma once

#include "upstream/endpoint_queue.hpp"
#include "upstream/endpoint_state.hpp"

#include <cstdint>
#include <utility>

namespace stint::upstream {

// Frees the slot on destruction. Move-only; the endpoint's cluster must outlive it.
class InFlightToken {
  public:
    InFlightToken() = default;
    // Owns a slot that the caller has taken by EndpointState::charge(), and frees it by
    // discharge(). queue: the queue whose first waiter is called when the slot is free; nullptr if
    // there is none.
    InFlightToken(EndpointState& charged, EndpointQueue* queue) noexcept
        : state_{&charged}, queue_{queue} {}
    // Takes a slot by adding 1 to `own`, a number that only this worker uses, and frees it by
    // subtracting 1. No queue waits for such a slot.
    explicit InFlightToken(std::uint32_t& own) noexcept : own_{&own} { ++own; }
    InFlightToken(InFlightToken&& other) noexcept
        : own_{std::exchange(other.own_, nullptr)}, state_{std::exchange(other.state_, nullptr)},
          queue_{other.queue_} {}
    InFlightToken& operator=(InFlightToken&& other) noexcept {
        release();
        own_ = std::exchange(other.own_, nullptr);
        state_ = std::exchange(other.state_, nullptr);
        queue_ = other.queue_;
        return *this;
    }
    ~InFlightToken() { release(); }

    void release() noexcept {
        if (own_ != nullptr)
            --*std::exchange(own_, nullptr);
        else if (state_ != nullptr)
            discharge();
    }

  private:
    void discharge() noexcept {
        std::exchange(state_, nullptr)->discharge();
        if (queue_ != nullptr && queue_->awaited())
            queue_->notify_free();
    }

    std::uint32_t* own_ = nullptr;
    EndpointState* state_ = nullptr; // null if own_ is set
    EndpointQueue* queue_ = nullptr;
};

} // namespace stint::upstream
