// Requests that show a permit: charges that it has paid for are not made again.
#include "http/permit_text.hpp"
#include "proxy/admission/limit_steps.hpp"
#include "proxy/exchange.hpp"

namespace stint::proxy {

// Leaves out what the shown permit has paid for. One that is good for nothing here may be
// elsewhere.
void Exchange::leave_out_prepaid(routing::Charges& charges, std::span<const Field> fields) {
    if (prepaid_.expired(decided_.steady)) // it expired during a pause
        prepaid_ = {};
    if (!prepaid_) // unless claimed before a wait
        if (const auto shown = http::shown_permit(fields))
            prepaid_ = context_.shared.prepaid.claim(*shown, decided_.steady);
    if (leave_out_paid(charges, prepaid_))
        return;
    prepaid_ = {};
    shows_permit_ = false;
    ++context_.counters.tickets_unknown;
}

void Exchange::spend_prepaid() noexcept {
    if (prepaid_ && prepaid_.spend())
        ++context_.counters.tickets_used;
}

} // namespace stint::proxy
