// TLS on the client side, for connections to an upstream.
#pragma once

#include "base/error.hpp"
#include "tls/context.hpp"
#include "tls/settings.hpp"
#include "tls/ssl.hpp"

#include <memory>
#include <string>

namespace stint::tls {

// Makes TLS connections to upstream servers: TLS 1.2 and 1.3, ALPN http/1.1. Thread-safe, shared by
// all workers: immutable except for cached sessions, which have their own lock. Its connections may
// outlive it.
class Client {
  public:
    // Reads the TLS files. The error is one human-readable line that names the file.
    [[nodiscard]] static Result<std::shared_ptr<const Client>, std::string>
    make(const ClientSettings& settings);

    // Prepares a handshake with a server, given by name or IP address (without brackets): sends the
    // name as SNI (RFC 6066 section 3; not for addresses), requires that the certificate is for the
    // name or address, and offers the last cached session. Returns nullptr if memory ran out. The
    // caller sets the BIO.
    [[nodiscard]] SslPtr connect(const std::string& server_name) const;

    [[nodiscard]] bool verifies() const noexcept { return verifies_; }

  private:
    Client() = default;

    ContextPtr context_; // owns the cached sessions (SessionStore)
    bool verifies_ = true;
};

} // namespace stint::tls
