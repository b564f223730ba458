// A request's place on an endpoint.
#pragma once

#include "upstream/endpoint_queue.hpp"
#include "upstream/endpoint_state.hpp"

#include <cstdint>
#include <utility>

namespace stint::upstream {

// Releases the place on destruction. Move-only; the endpoint's cluster must outlive it.
class InFlightToken {
  public:
    InFlightToken() = default;
    // Takes over a place that EndpointState::charge() has given. queue: notified when it is free;
    // nullptr: no queue.
    InFlightToken(EndpointState& charged, EndpointQueue* queue) noexcept
        : state_{&charged}, queue_{queue} {}
    // Takes a place that only this worker counts, in `own`.
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
