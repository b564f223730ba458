// Results that the parts of an exchange tell each other.
#pragma once

#include <cstdint>

namespace stint::proxy {

// The next step of a request.
enum class Next : std::uint8_t {
    forward,       // it is to be sent upstream
    sent,          // it, or its first part, was sent: the response is awaited
    reply,         // the gateway answers it
    wait_queue,    // it waits in the admission queue
    wait_shared,   // it waits for the answer of shared counters
    wait_cooldown, // it waits for its cool-down to let it go
    wait_endpoint  // it waits for a place on an endpoint
};

[[nodiscard]] constexpr bool waits(Next next) noexcept {
    return next >= Next::wait_queue;
}

// The result of a wait for the upstream's response.
enum class Answer : std::uint8_t { incomplete, retry, failed, ready };

} // namespace stint::proxy
