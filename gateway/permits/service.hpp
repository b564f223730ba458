// Serves permits and locks on one worker: the state that the requests of one worker share.
#pragma once

#include "base/object_pool.hpp"
#include "permits/acquire_operation.hpp"
#include "permits/acquire_request.hpp"
#include "permits/checked_request.hpp"
#include "permits/lock_operation.hpp"
#include "permits/persistence_waits.hpp"
#include "permits/shared.hpp"
#include "proxy/context.hpp"
#include "server/request_handler.hpp"
#include "server/settings.hpp"

#include <cstdint>
#include <memory>

namespace stint::permits {

class RequestHandler;

// Not thread-safe. Outlives the worker's event loop, which ends the service's connections.
class Service final : public server::Service {
  public:
    Service(proxy::Context& worker, Shared& for_all);
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    // Applies the connection settings of the worker's active configuration.
    void adopt();
    // Ends callbacks from other threads, before the worker's event loop ends.
    void detach() noexcept { persistence_waits.detach(); }

    [[nodiscard]] const server::ConnectionSettings& settings() const noexcept override {
        return settings_;
    }
    [[nodiscard]] std::unique_ptr<server::Session> open_session() override;
    [[nodiscard]] server::RequestHandlerPtr make_handler(server::ClientStream& stream) override;
    [[nodiscard]] bool grants_permits() const noexcept override { return true; }
    void on_connections(int change) noexcept override {
        context.counters.permit_connections += static_cast<std::uint64_t>(change);
    }

    // Returns a number for another ConnectionLeases.
    [[nodiscard]] std::uint64_t next_leases() noexcept;

    // --- for its requests ---
    proxy::Context& context;
    Shared& shared;
    RequestReader request_reader; // its results are valid until the next suspension
    ObjectPool<AcquireOperation> acquire_operations;
    ObjectPool<CheckedRequest> checked_requests;
    PersistenceWaits persistence_waits;
    ObjectPool<LockOperation> lock_operations;

  private:
    server::ConnectionSettings settings_;
    ObjectPool<RequestHandler> handlers_;
};

} // namespace stint::permits
