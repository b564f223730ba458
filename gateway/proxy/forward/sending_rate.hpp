// The time spent waiting for a client, and the bytes it has sent meanwhile. Pure.
#pragma once

#include "base/min_rate.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stint::proxy {

// Counts only time spent waiting for the client: otherwise it is not the client that is slow.
class SendingRate {
  public:
    // Begins a wait for the client.
    void wait(SteadyTime now) noexcept { since_ = now; }
    // Ends the wait: the client has sent so many bytes.
    void arrive(SteadyTime now, std::size_t bytes) noexcept {
        waited_ += std::max(now - since_, Duration::zero());
        bytes_ += bytes;
    }
    [[nodiscard]] bool below(const MinRate& least) const noexcept {
        return least.missed_by(bytes_, waited_);
    }

  private:
    SteadyTime since_{};
    Duration waited_{};
    std::uint64_t bytes_ = 0;
};

} // namespace stint::proxy
