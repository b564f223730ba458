// The active health checks of all endpoints. Runs on the control thread; not thread-safe.
#pragma once

#include "config/schema/schema.hpp"
#include "net/types.hpp"
#include "routing/snapshot.hpp"
#include "upstream/health_check.hpp"
#include "upstream/resolver.hpp"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

namespace stint::runtime {

class HealthChecks {
  public:
    explicit HealthChecks(net::Executor executor) : executor_{std::move(executor)} {}
    ~HealthChecks() { stop(); }
    HealthChecks(const HealthChecks&) = delete;
    HealthChecks& operator=(const HealthChecks&) = delete;

    // Starts the checks of a configuration. snapshot: compiled from `config`. Checks with unchanged
    // settings go on. An endpoint without a check is marked as healthy.
    void apply(
        const config::Config& config,
        const routing::Snapshot& snapshot,
        const upstream::AddressBook& addresses);

    // Applies new DNS results to the checks of endpoints that are host names.
    void apply(const upstream::AddressBook& addresses);

    void stop() noexcept;

  private:
    struct Entry {
        routing::EndpointSpec endpoint;
        std::shared_ptr<upstream::HealthCheck> check;
    };
    // By the names of the upstream and the endpoint.
    using Checks = std::map<std::pair<std::string, std::string>, Entry>;

    [[nodiscard]] Entry started(
        const std::string& upstream,
        const routing::EndpointSpec& endpoint,
        upstream::HealthSpec spec,
        const upstream::AddressBook& addresses);

    net::Executor executor_;
    Checks checks_;
    std::minstd_rand random_{std::random_device{}()};
};

} // namespace stint::runtime
