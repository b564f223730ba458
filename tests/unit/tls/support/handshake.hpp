// Both ends of a connection in memory.
#pragma once

#include "tls/client.hpp"
#include "tls/openssl.hpp"
#include "tls/server.hpp"
#include "tls/ticket_keys.hpp"

#include <functional>
#include <memory>
#include <string>

namespace stint::tls {

struct Handshake {
    SslPtr client;
    SslPtr server;
    bool done = false;
    std::string client_reason; // why that end failed, if it did
    std::string server_reason;

    [[nodiscard]] bool resumed() const { return SSL_session_reused(client.get()) == 1; }
    // The common name of the certificate that the client was shown.
    [[nodiscard]] std::string shown() const;
    [[nodiscard]] std::string protocol() const; // of ALPN
    [[nodiscard]] int version() const { return SSL_version(client.get()); }
};

// Runs it to its end, with a byte each way behind it: tickets have arrived. expected_name: for the
// client's reason.
[[nodiscard]] Handshake
shake(SslPtr client, SslPtr server, const std::string& expected_name = "shop.example");

// A client that believes everybody, as `adapt` makes it.
class AnyClient {
  public:
    AnyClient() : context_{make_context(Side::client)} {}

    [[nodiscard]] SSL_CTX* context() const noexcept { return context_.get(); }
    // name: empty = none is told. session: to be resumed.
    [[nodiscard]] SslPtr connect(const std::string& name = {}, SSL_SESSION* session = {}) const;

  private:
    ContextPtr context_;
};

[[nodiscard]] std::shared_ptr<TicketKeys> new_keys();

// Settings that must be right.
[[nodiscard]] std::shared_ptr<const Server>
server(const ServerSettings& settings, std::shared_ptr<TicketKeys> keys = new_keys());
[[nodiscard]] std::shared_ptr<const Client> client(const ClientSettings& settings);

// Settings that must be wrong: how.
[[nodiscard]] std::string mistake_in(const ServerSettings& settings);
[[nodiscard]] std::string mistake_in(const ClientSettings& settings);

} // namespace stint::tls
