// Makes the handlers of requests to forward, on one worker.
#pragma once

#include "proxy/context.hpp"
#include "server/request_handler.hpp"

namespace stint::proxy {

// One for each worker. Must outlive the worker's event loop.
class Service final : public server::Service {
  public:
    explicit Service(Context& context) noexcept : context_{context} {}
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    [[nodiscard]] const server::ConnectionSettings& settings() const noexcept override {
        return context_.active->connections;
    }
    [[nodiscard]] server::RequestHandlerPtr make_handler(server::ClientStream& stream) override;
    void on_connections(int change) noexcept override {
        context_.counters.connections_open += static_cast<std::uint64_t>(change);
    }

  private:
    Context& context_;
};

} // namespace stint::proxy
