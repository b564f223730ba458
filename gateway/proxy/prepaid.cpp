// A request that shows a permit: what that has paid for is not charged again.
#include "http/permit_text.hpp"
#include "proxy/exchange.hpp"

namespace stint::proxy {

// Leaves the charges as they are where the permit is good for nothing here: then it may be good
// elsewhere. A request that costs more than was taken is charged for the rest.
void Exchange::leave_out_prepaid(routing::Charges& charges, std::span<const Field> fields) {
    if (!prepaid_) // unless it is admitted once more
        if (const auto shown = http::shown_permit(fields))
            prepaid_ = context_.shared.prepaid.claim(*shown, decided_.steady);
    bool pays = false;
    for (std::size_t i = charges.charges.size(); i-- > 0;) {
        const auto at = static_cast<std::ptrdiff_t>(i);
        limits::Charge& charge = charges.charges[i];
        const std::uint64_t paid = prepaid_.paid_of(charge);
        pays = pays || paid > 0;
        charge.cost -= paid;
        if (charge.cost > 0)
            continue;
        charges.charges.erase(charges.charges.begin() + at);
        charges.limits.erase(charges.limits.begin() + at);
    }
    if (pays)
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
