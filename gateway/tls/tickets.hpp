// TLS session tickets: sessions that clients keep, encrypted by TicketKeys. Internal to tls/.
#pragma once

#include "tls/context.hpp"
#include "tls/ticket_keys.hpp"

#include <memory>

namespace stint::tls {

// Makes the context resume sessions by tickets only, without a session cache on the server.
void use_tickets(SSL_CTX& context, std::shared_ptr<TicketKeys> keys);

} // namespace stint::tls
