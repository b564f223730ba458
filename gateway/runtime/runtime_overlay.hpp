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

// An endpoint that takes no new requests until it is enabled.
struct DrainedEndpoint {
    std::string upstream;
    std::string endpoint; // as in the configuration
    WallTime since{};
};

// A lease that an operator has ended. It is an event: it does not affect later leases.
struct EndedLease {
    std::string lock;
    std::string lease; // its id as the holder has it
    WallTime at{};
};

// Owns overrides; records drained endpoints, whose state is EndpointState's, and ended leases. It
// outlives reloads, not the process. Used by the control thread alone.
class RuntimeOverlay {
  public:
    static constexpr std::size_t most_ended_leases = 100; // the oldest goes first

    [[nodiscard]] const LiveOverrides& overrides() const noexcept { return overrides_; }
    [[nodiscard]] LiveOverrides& overrides() noexcept { return overrides_; }
    // Drops the overrides of limits that have ended: their numbers may be meant for another kind of
    // limit, and their keys may be spelt otherwise. Returns a note for each limit that had
    // overrides.
    [[nodiscard]] std::vector<std::string>
    forget_overrides(const std::vector<std::string>& ended_limits);

    // Stops new requests to the endpoint. An endpoint that is drained already keeps its time.
    void
    drain(const std::string& upstream, const upstream::EndpointStatePtr& endpoint, const Now& now);
    // Allows them again.
    void
    enable(const std::string& upstream, const upstream::EndpointStatePtr& endpoint, const Now& now);
    // Returns the drained endpoints by upstream and endpoint. One that a reload has removed from
    // the file is among them for as long as its last requests keep its state.
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
