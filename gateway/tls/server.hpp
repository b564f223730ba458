// TLS for a listener.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "tls/context.hpp"
#include "tls/settings.hpp"
#include "tls/ssl.hpp"

#include <memory>
#include <string>
#include <vector>

namespace stint::tls {

class TicketKeys;

// Immutable, shared by all workers and threads. Connections that it began outlive it.
//
// TLS 1.2 with forward secrecy and authenticated ciphers only, and 1.3; no renegotiation, no
// compression, no early data; sessions are resumed by tickets alone. A client that offers ALPN
// (RFC 7301) without http/1.1 gets the alert no_application_protocol.
class Server {
  public:
    // The time at which a certificate of the settings expires.
    struct Expiry {
        std::string file;
        WallTime at;
    };

    // Reads the files. The error is one line for a person that names the file.
    [[nodiscard]] static Result<std::shared_ptr<const Server>, std::string>
    make(const ServerSettings& settings, std::shared_ptr<TicketKeys> keys);

    // Makes a session that waits for a client's hello; nullptr when there is no memory. The caller
    // gives it its BIO. Reads ahead, writes parts, and holds no buffers while idle.
    [[nodiscard]] SslPtr accept() const;

    [[nodiscard]] const std::vector<Expiry>& expiries() const noexcept { return expiries_; }
    // Settings that are odd without being wrong, such as a certificate that has expired, a line
    // each.
    [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  private:
    Server() = default;

    ContextPtr context_; // owns the contexts of other names
    std::vector<Expiry> expiries_;
    std::vector<std::string> warnings_;
};

} // namespace stint::tls
