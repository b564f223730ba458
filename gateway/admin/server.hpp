// The admin listener: answers operators, dashboards and Prometheus on the gateway's control thread.
// Slow admin requests do not delay proxied requests, which the workers serve.
#pragma once

#include "base/error.hpp"
#include "config/schema/schema.hpp"
#include "net/types.hpp"
#include "runtime/gateway.hpp"

#include <memory>
#include <string>

namespace stint::admin {

// Used on the control thread. The gateway must outlive the server.
class Server {
  public:
    explicit Server(runtime::Gateway& gateway);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Reads the token files and opens the listener. The error is one human-readable line. Call it
    // at most once.
    [[nodiscard]] Result<void, std::string> start(const config::Admin& admin);

    // Closes the listener and every connection. Idempotent.
    void stop();

    // Returns the bound address (port 0 resolved). Call it only after start().
    [[nodiscard]] const net::Endpoint& address() const noexcept;

  private:
    struct Listening;

    runtime::Gateway& gateway_;
    std::shared_ptr<Listening> listening_; // shared with the accept coroutine
};

} // namespace stint::admin
