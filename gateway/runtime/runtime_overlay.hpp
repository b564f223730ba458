// The changes that operators have made at run time, on top of the configuration file.
#pragma once

#include "base/time.hpp"
#include "runtime/live_overrides.hpp"
#include "upstream/endpoint_state.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::runtime {

// An endpoint that gets no new requests until an operator enables it.
struct DrainedEndpoint {
    std::string upstream;
    std::string endpoint; // the address as configured
    WallTime since{};
};

// A record of a lease that an operator has ended by force. It does not affect later leases.
struct EndedLease {
    std::string lock;
    std::string lease; // the lease id in the form that the holder got
    WallTime at{};
};

// Owns the overrides, and records drained endpoints and leases ended by force. The drained flag
// itself is in EndpointState. Kept over reloads, but not over a restart. Used by the control thread
// alone.
class RuntimeOverlay {
  public:
    static constexpr std::size_t most_ended_leases = 100; // the oldest is dropped for a new one

    [[nodiscard]] const LiveOverrides& overrides() const noexcept { return overrides_; }
    [[nodiscard]] LiveOverrides& overrides() noexcept { return overrides_; }
    // Drops the overrides of limits that a reload has ended: a new limit of the same name may be of
    // another kind or have other keys. Returns a line for each ended limit that had overrides.
    [[nodiscard]] std::vector<std::string>
    forget_overrides(const std::vector<std::string>& ended_limits);

    // Stops new requests to the endpoint. If it is already drained, DrainedEndpoint::since stays.
    void
    drain(const std::string& upstream, const upstream::EndpointStatePtr& endpoint, const Now& now);
    // Allows new requests to the endpoint again.
    void
    enable(const std::string& upstream, const upstream::EndpointStatePtr& endpoint, const Now& now);
    // Returns the drained endpoints, ordered by upstream and endpoint. An endpoint that a reload
    // has removed stays in the list until its last requests end.
    [[nodiscard]] std::vector<DrainedEndpoint> drained() const;

    // Records that an operator has ended a lease.
    void note_ended(EndedLease lease);
    // Returns the last ended leases, the newest last.
    [[nodiscard]] const std::deque<EndedLease>& ended_leases() const noexcept {
        return ended_leases_;
    }

  private:
    struct Drained {
        std::weak_ptr<const upstream::EndpointState> state;
        WallTime since{};
    };

    LiveOverrides overrides_;
    std::map<std::pair<std::string, std::string>, Drained> drained_; // by upstream and endpoint
    std::deque<EndedLease> ended_leases_;
};

} // namespace stint::runtime
