// What an exchange waits for, and what ends it before its response has ended.
#pragma once

#include <cstdint>

namespace stint::proxy {

// What its deadline is armed for.
enum class Waiting : std::uint8_t { connect, response, upstream, client };

// What ended it early.
enum class AbortReason : std::uint8_t {
    no,
    client_gone,
    client_stalled, // in the middle of its body, or of reading the answer
    bad_body,
    body_too_long,
    connect_timeout,
    handshake_timeout, // connected, but not through with TLS
    response_timeout,
    upstream_stalled, // in the middle of a body
    upstream_broken,  // closed or reset in the middle of its response
};

// A deadline that has passed.
[[nodiscard]] constexpr AbortReason timeout_reason(Waiting what) noexcept {
    switch (what) {
    case Waiting::connect:
        return AbortReason::connect_timeout;
    case Waiting::response:
        return AbortReason::response_timeout;
    case Waiting::upstream:
        return AbortReason::upstream_stalled;
    case Waiting::client:
        return AbortReason::client_stalled;
    }
    return AbortReason::no;
}

// Of a response that broke off after its head.
[[nodiscard]] constexpr bool by_upstream(AbortReason why) noexcept {
    return why == AbortReason::upstream_stalled || why == AbortReason::upstream_broken;
}

} // namespace stint::proxy
