// The active checks of all endpoints that have them, on the control thread.
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

    // Starts the checks of this configuration, of which `snapshot` was made. Checks with unchanged
    // settings go on; an endpoint that is no longer checked counts as healthy.
    void apply(
        const config::Config& config,
        const routing::Snapshot& snapshot,
        const upstream::AddressBook& addresses);

    // Applies new addresses of endpoints that are host names.
    void apply(const upstream::AddressBook& addresses);

    void stop() noexcept;

  private:
    struct Entry {
        routing::EndpointSpec endpoint;
        std::shared_ptr<upstream::HealthCheck> check;
    };
    using Checks = std::map<std::pair<std::string, std::string>, Entry>; // upstream, endpoint

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
