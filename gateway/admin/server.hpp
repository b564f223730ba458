// The admin listener: answers operators, dashboards and Prometheus on the gateway's control thread.
// Not part of the traffic: it may be slow, but it stops no proxied request.
#pragma once

#include "base/error.hpp"
#include "config/schema/schema.hpp"
#include "net/types.hpp"
#include "runtime/gateway.hpp"

#include <memory>
#include <string>

namespace stint::admin {

// Used on the control thread; the gateway outlives it.
class Server {
  public:
    explicit Server(runtime::Gateway& gateway);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Reads the token and opens the address. The error is one line for a person. At most once.
    [[nodiscard]] Result<void, std::string> start(const config::Admin& admin);

    // Closes the listener and every connection. Idempotent.
    void stop();

    // As bound (port 0 resolved). Only after start().
    [[nodiscard]] const net::Endpoint& address() const noexcept;

  private:
    struct Listening;

    runtime::Gateway& gateway_;
    std::shared_ptr<Listening> listening_; // with the coroutine that accepts
};

} // namespace stint::admin
