// The admin listener: answers operators, dashboards and Prometheus on the gateway's control thread.
// Slow admin requests do not delay proxied requests, which the workers serve.
#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "config/schema/schema.hpp"
#include "net/types.hpp"
#include "runtime/gateway.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace stint::admin {

// Used on the control thread. The gateway must outlive the server.
class Server final : public runtime::OtherListeners {
  public:
    explicit Server(runtime::Gateway& gateway);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Reads the token files, and opens the listening socket if there is an `admin` section. Call it
    // at most once.
    [[nodiscard]] Result<void, std::string> open(net::InheritedSockets& inherited) override;
    // Accepts clients from now on, if the socket was opened. Requires: the gateway has started.
    void start();

    // See OtherListeners.
    [[nodiscard]] std::vector<Descriptor> copy_sockets() const override;
    [[nodiscard]] std::vector<std::string> own_files() const override;
    void leave() override;
    void await_idle(std::function<void()> idle) override;
    // Idempotent.
    void stop() override;

    // Returns the bound address (port 0 resolved). Call it only after open() and start().
    [[nodiscard]] const net::Endpoint& address() const noexcept;

  private:
    struct Listening;
    struct Opened;

    runtime::Gateway& gateway_;
    std::unique_ptr<Opened> opened_;       // between open() and start()
    std::shared_ptr<Listening> listening_; // shared with the accept coroutine
};

} // namespace stint::admin
