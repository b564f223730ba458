// An exchange's deadlines, and the reasons that abort it before its response has ended.
#pragma once

#include "observe/outcome.hpp"

#include <cstdint>
#include <string>

namespace stint::proxy {

// The wait that an exchange's deadline is armed for.
enum class Waiting : std::uint8_t { connect, response, upstream, client };

// The reason that ended an exchange early.
enum class AbortReason : std::uint8_t {
    no,
    client_gone,
    client_stalled, // the client stopped sending its body or reading the response
    bad_body,
    body_too_long,
    connect_timeout,
    handshake_timeout, // connected, but the TLS handshake took too long
    response_timeout,
    upstream_stalled, // the upstream stopped reading the request or sending its body
    upstream_broken,  // closed or reset in the middle of its response
};

// The gateway's reply to an aborted request. Nothing is sent to a client that has gone.
struct AbortReply {
    int status = 499;
    observe::Outcome outcome = observe::Outcome::client_gone;
    std::string detail{}; // the reply's explanation, as for Request::fail()
};

// Returns the reply to a request that was aborted because of `why`, which is not AbortReason::no.
// endpoint: text of the endpoint that the request was sent to.
[[nodiscard]] AbortReply reply_of(AbortReason why, const std::string& endpoint);

// Returns the abort reason for a deadline that has passed.
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

// True if the upstream is to blame for a response that broke off after its head.
[[nodiscard]] constexpr bool by_upstream(AbortReason why) noexcept {
    return why == AbortReason::upstream_stalled || why == AbortReason::upstream_broken;
}

} // namespace stint::proxy
