// Progress of an exchange: results that its functions tell each other, and its connection.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stint::proxy {

// The connection's next step after an exchange.
struct ExchangeResult {
    bool keep = false;        // may carry another request
    bool linger = false;      // the client may still be sending: close gently
    std::size_t consumed = 0; // bytes of Downstream::received() that belong to this request
};

// The next step of a request. Most are over after begin() or take_answer(): they take no coroutine,
// and so no memory, of their own.
enum class ExchangeStep : std::uint8_t {
    over,   // finish()
    answer, // take_answer() what read_answer() brings
    rest    // co_await rest()
};

// The result of a wait for the upstream.
enum class UpstreamAnswer : std::uint8_t { incomplete, retry, failed, ready };

// The next step after the decision on a request.
enum class NextOfRequest : std::uint8_t { forward, reply, wait, wait_cooldown, wait_endpoint };

// The result of choosing an endpoint for a request.
enum class Taken : std::uint8_t { yes, full, none };

} // namespace stint::proxy
