// Sessions that clients keep, sealed by keys of ours. Internal to tls/.
#pragma once

#include "tls/context.hpp"
#include "tls/ticket_keys.hpp"

#include <memory>

namespace stint::tls {

// The context resumes sessions by tickets alone, and remembers none itself.
void use_tickets(SSL_CTX& context, std::shared_ptr<TicketKeys> keys);

} // namespace stint::tls
