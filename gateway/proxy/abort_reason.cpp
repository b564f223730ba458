#include "proxy/abort_reason.hpp"

#include "admission/request_admission.hpp"

namespace stint::proxy {

AbortReply reply_of(AbortReason why, const std::string& endpoint) {
    using observe::Outcome;
    switch (why) {
    case AbortReason::no:
    case AbortReason::client_gone:
        break;
    case AbortReason::client_stalled:
        return {408, Outcome::client_gone, "the request's body did not arrive in time"};
    case AbortReason::bad_body:
        return {400, Outcome::rejected, {}};
    case AbortReason::body_too_long:
        return {413, Outcome::rejected, std::string{admission::body_too_long}};
    case AbortReason::connect_timeout:
        return {504, Outcome::upstream_failed, "connecting to " + endpoint + " took too long"};
    case AbortReason::handshake_timeout:
        return {
            504, Outcome::upstream_failed, "the TLS handshake with " + endpoint + " took too long"};
    case AbortReason::response_timeout:
        return {504, Outcome::upstream_failed, endpoint + " did not answer in time"};
    case AbortReason::upstream_stalled:
        return {504, Outcome::upstream_failed, endpoint + " did not take the request in time"};
    case AbortReason::upstream_broken:
        return {502, Outcome::upstream_failed, endpoint + " broke off"};
    }
    return {};
}

} // namespace stint::proxy
