// Admission by limits that give a refused request a slot in a coming window, and its ticket.
#include "proxy/admission/limit_steps.hpp"
#include "proxy/exchange.hpp"

namespace stint::proxy {

Exchange::Next
Exchange::admit_reserving(routing::Charges& charges, const routing::KeyFacts& facts) {
    Reserving reserving{charges, facts, context_.key_scratch, context_.shared.ticket_hasher};
    limits::Decision decision =
        reserving.admit(decided_, route_->telling.any ? &rate_limit_headers_ : nullptr);
    if (!decision.allowed()) {
        reserving.add_tickets(reply_);
        refuse(charges, decision);
        return Next::reply;
    }
    accept_admission(decision, charges);
    return Next::forward;
}

} // namespace stint::proxy
