// Effects of a limit's decision on a request: admitted, refused, or would have been refused.
#include "proxy/admission/limit_steps.hpp"
#include "proxy/exchange.hpp"

#include <utility>

namespace stint::proxy {

void Exchange::refuse(const routing::Charges& charges, const limits::Decision& decision) {
    const Duration retry_after = note_refusal(context_, *config_, recent_, charges, decision);
    prepaid_ = {}; // before the client can show it again
    reply_.refuse(charges, decision, retry_after);
    end_as(charges.limits[decision.refused_by]->answer.status, observe::Outcome::refused);
}

// Denies the request, not for its rate: to retry later would not help.
void Exchange::deny(const routing::RouteLimit& limit, routing::Denial denial) {
    note_denial(context_, recent_, limit);
    reply_.deny(limit, denial);
    end_as(403, observe::Outcome::refused);
}

void Exchange::accept_admission(limits::Decision& decision, const routing::Charges& charges) {
    permit_ = std::move(decision.permit);
    if (shows_permit_) [[unlikely]]
        spend_prepaid();
    if ((decision.would_refuse | decision.overflow_began) != 0) [[unlikely]]
        note_admission(decision, charges);
}

void Exchange::note_admission(const limits::Decision& decision, const routing::Charges& charges) {
    const std::string_view first = proxy::note_admission(context_.counters, decision, charges);
    if (would_refuse_.empty())
        would_refuse_ = first;
}

} // namespace stint::proxy
