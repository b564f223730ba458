// A request's place on an endpoint.
#pragma once

#include "upstream/endpoint_state.hpp"
#include "upstream/place_queue.hpp"

#include <cstdint>
#include <utility>

namespace stint::upstream {

// Given back when it ends. Move-only; the cluster that the endpoint is of must outlive it.
class Charge {
  public:
    Charge() = default;
    // Takes over a place that EndpointState::charge() has given. queue: who is told when it is
    // free; nullptr: nobody.
    Charge(EndpointState& charged, PlaceQueue* queue) noexcept : state_{&charged}, queue_{queue} {}
    // A place that only its worker counts, in `own`.
    explicit Charge(std::uint32_t& own) noexcept : own_{&own} { ++own; }
    Charge(Charge&& other) noexcept
        : own_{std::exchange(other.own_, nullptr)}, state_{std::exchange(other.state_, nullptr)},
          queue_{other.queue_} {}
    Charge& operator=(Charge&& other) noexcept {
        release();
        own_ = std::exchange(other.own_, nullptr);
        state_ = std::exchange(other.state_, nullptr);
        queue_ = other.queue_;
        return *this;
    }
    ~Charge() { release(); }

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
            queue_->place_is_free();
    }

    std::uint32_t* own_ = nullptr;
    EndpointState* state_ = nullptr; // or own_
    PlaceQueue* queue_ = nullptr;
};

} // namespace stint::upstream
