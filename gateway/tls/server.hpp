// TLS on the server side, for a listener.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "tls/context.hpp"
#include "tls/settings.hpp"
#include "tls/ssl.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stint::tls {

class TicketKeys;

// Accepts TLS connections. Immutable, shared by all threads. Its connections may outlive it.
//
// Supports TLS 1.3, and TLS 1.2 by default only with forward secrecy and authenticated encryption;
// no renegotiation, compression or early data. Sessions are resumed by tickets only. A client that
// offers ALPN (RFC 7301) without http/1.1, or h2 where it is offered, gets the alert
// no_application_protocol.
class Server {
  public:
    // The expiry time of a certificate, with the file of the certificate.
    struct Expiry {
        std::string file;
        WallTime at;
    };

    // Reads the TLS files. keys: seal session tickets. The error is one human-readable line that
    // names the file.
    [[nodiscard]] static Result<std::shared_ptr<const Server>, std::string>
    make(const ServerSettings& settings, std::shared_ptr<TicketKeys> keys);

    // Makes the TLS object of a new connection, which waits for the client's hello; nullptr if
    // memory ran out. The caller sets the BIO. The object reads ahead, allows partial writes, and
    // holds no buffers while idle.
    [[nodiscard]] SslPtr accept() const;

    // True if a connection that this server has accepted may carry requests for the host: a new
    // connection to that host would be served with the same certificates and the same rules for
    // those of clients (RFC 9110 section 7.4). host: as http::normalise_host() returns it.
    [[nodiscard]] bool serves(SSL& connection, std::string_view host) const;

    [[nodiscard]] const std::vector<Expiry>& expiries() const noexcept { return expiries_; }
    // Returns one human-readable line for each suspicious but valid setting, such as an expired
    // certificate.
    [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  private:
    Server() = default;

    ContextPtr context_; // the default context; owns the contexts of other names
    std::vector<Expiry> expiries_;
    std::vector<std::string> warnings_;
};

} // namespace stint::tls
