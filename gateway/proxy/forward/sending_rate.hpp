// Measures how fast a client sends its body. Does no I/O.
#pragma once

#include "base/min_rate.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stint::proxy {

// Counts only the time spent waiting for the client: a slow upstream does not make the client slow.
class SendingRate {
  public:
    // Begins a wait for the client.
    void wait(SteadyTime now) noexcept { since_ = now; }
    // Ends the wait. bytes: number of bytes that the client has sent meanwhile.
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
