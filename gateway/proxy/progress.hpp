// How far an exchange has come: what its functions tell each other, and its connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::proxy {

inline constexpr std::string_view body_too_long = "the request's body is larger than max_body";

// What the connection is to do next.
struct ExchangeResult {
    bool keep = false;        // may carry another request
    bool linger = false;      // the client may still be sending: close gently
    std::size_t consumed = 0; // bytes of Downstream::received() that this request was
};

// What a request needs next. Most are over after begin() or take_answer(): they take no coroutine,
// and so no memory, of their own.
enum class ExchangeStep : std::uint8_t {
    over,   // finish()
    answer, // take_answer() what read_answer() brings
    rest    // co_await rest()
};

// What a wait on the upstream has brought.
enum class UpstreamAnswer : std::uint8_t { incomplete, retry, failed, ready };

// What the decision about a request leads to.
enum class NextOfRequest : std::uint8_t { forward, reply, wait, wait_cooldown, wait_endpoint };

// Whether an endpoint takes the request.
enum class Taken : std::uint8_t { yes, full, none };

} // namespace stint::proxy
