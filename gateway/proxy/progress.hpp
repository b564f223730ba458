// Results that the parts of an exchange return to each other.
#pragma once

#include <cstdint>

namespace stint::proxy {

// The next step of a request.
enum class Next : std::uint8_t {
    forward,       // send the request upstream
    sent,          // the request, or its first part, was sent: await the response
    reply,         // let the gateway answer the request
    wait_queue,    // wait in the admission queue
    wait_shares,   // wait for larger shares of limits that gateways share
    wait_cooldown, // wait for the end of the upstream's cool-down
    wait_endpoint  // wait for a free slot on an endpoint
};

[[nodiscard]] constexpr bool waits(Next next) noexcept {
    return next >= Next::wait_queue;
}

// The result of a wait for the upstream's response: more heads have to come, the request is to be
// sent again, the request has failed, or the response's final head was sent to the client.
enum class Answer : std::uint8_t { incomplete, retry, failed, ready };

} // namespace stint::proxy
