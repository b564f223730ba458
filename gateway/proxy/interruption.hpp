// What an exchange waits for, and what ends it before its response has ended.
#pragma once

#include <cstdint>

namespace stint::proxy {

// What its deadline is armed for.
enum class Waiting : std::uint8_t { connect, response, upstream, client };

// What ended it early.
enum class Broken : std::uint8_t {
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
[[nodiscard]] constexpr Broken missed(Waiting what) noexcept {
    switch (what) {
    case Waiting::connect:
        return Broken::connect_timeout;
    case Waiting::response:
        return Broken::response_timeout;
    case Waiting::upstream:
        return Broken::upstream_stalled;
    case Waiting::client:
        return Broken::client_stalled;
    }
    return Broken::no;
}

// Of a response that broke off after its head.
[[nodiscard]] constexpr bool by_upstream(Broken why) noexcept {
    return why == Broken::upstream_stalled || why == Broken::upstream_broken;
}

} // namespace stint::proxy
