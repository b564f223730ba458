// TLS for connections to an upstream.
#pragma once

#include "base/error.hpp"
#include "tls/context.hpp"
#include "tls/settings.hpp"
#include "tls/ssl.hpp"

#include <memory>
#include <string>

namespace stint::tls {

// Immutable but for the sessions it remembers, which have their own lock; shared by all workers.
// Connections that it began outlive it. TLS 1.2 and 1.3, ALPN http/1.1.
class Client {
  public:
    // Reads the files. The error is one line for a person that names the file.
    [[nodiscard]] static Result<std::shared_ptr<const Client>, std::string>
    make(const ClientSettings& settings);

    // Begins a handshake with the server of that name or IP address (without brackets): names it
    // (SNI, RFC 6066 section 3: names alone), asks for its certificate to be for it, and offers the
    // last session with it. nullptr when there is no memory. The caller gives it its BIO.
    [[nodiscard]] SslPtr connect(const std::string& server_name) const;

    [[nodiscard]] bool verifies() const noexcept { return verifies_; }

  private:
    Client() = default;

    ContextPtr context_; // owns the sessions
    bool verifies_ = true;
};

} // namespace stint::tls
