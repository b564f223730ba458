// How long a client was waited for, and what it has sent meanwhile. Pure.
#pragma once

#include "base/min_rate.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stint::proxy {

// Time in which nobody waits for the client does not count: then it is not the client that is slow.
class SendingRate {
  public:
    // The client is waited for from now on.
    void wait(SteadyTime now) noexcept { since_ = now; }
    // It has sent so many bytes, which ends the wait.
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
