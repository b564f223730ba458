// A request's place on an endpoint.
#pragma once

#include "upstream/endpoint_state.hpp"
#include "upstream/place_queue.hpp"

#include <utility>

namespace stint::upstream {

// Given back when it ends. Move-only; the snapshot that the endpoint is of
// must outlive it.
class Charge {
  public:
    Charge() = default;
    // Takes over a place that EndpointState::charge() has given. queue: who is told when it is
    // free; nullptr: nobody.
    Charge(EndpointState& charged, PlaceQueue* queue) noexcept : state_{&charged}, queue_{queue} {}
    Charge(Charge&& other) noexcept
        : state_{std::exchange(other.state_, nullptr)}, queue_{other.queue_} {}
    Charge& operator=(Charge&& other) noexcept {
        std::swap(state_, other.state_);
        std::swap(queue_, other.queue_);
        other.release();
        return *this;
    }
    ~Charge() { release(); }

    void release() noexcept {
        if (state_ == nullptr)
            return;
        std::exchange(state_, nullptr)->discharge();
        if (queue_ != nullptr && queue_->awaited())
            queue_->place_is_free();
    }

  private:
    EndpointState* state_ = nullptr;
    PlaceQueue* queue_ = nullptr;
};

} // namespace stint::upstream
