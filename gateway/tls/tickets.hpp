// Session tickets: sessions that clients keep, sealed by keys of ours. Internal to tls/.
#pragma once

#include "tls/context.hpp"
#include "tls/ticket_keys.hpp"

#include <memory>

namespace stint::tls {

// Makes the context resume sessions by tickets alone; it remembers none itself.
void use_tickets(SSL_CTX& context, std::shared_ptr<TicketKeys> keys);

} // namespace stint::tls
