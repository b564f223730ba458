// State that an upstream's endpoints share over all workers, and the registry of all groups.
#pragma once

#include "base/live_objects.hpp"
#include "base/time.hpp"
#include "routing/balance_spec.hpp"
#include "upstream/endpoint_queue.hpp"
#include "upstream/endpoint_state.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace stint::upstream {

// One for each upstream's name; reloads keep it. Threads: any.
class EndpointGroup {
  public:
    // Returns the endpoint's state: the existing one if it is still in use, else a new one.
    [[nodiscard]] EndpointStatePtr endpoint(const std::string& text);

    // Ejects `failing`, one of `all`, until the time of next_ejection(). Returns false, and changes
    // nothing, if it is ejected already or if may_eject() forbids it, because too many of the
    // others are out.
    bool eject(
        EndpointState& failing,
        std::span<const EndpointStatePtr> all,
        const routing::EjectionRules& rules,
        SteadyTime now);

    // The queue of requests that wait for a free slot on one of the endpoints.
    [[nodiscard]] EndpointQueue& queue() noexcept { return queue_; }

  private:
    EndpointQueue queue_;
    std::mutex mutex_;
    LiveObjects<std::string, EndpointState> known_;
};

using EndpointGroupPtr = std::shared_ptr<EndpointGroup>;

// Registry of all upstreams' groups. A group lives as long as a snapshot holds it. Used on the
// control thread alone.
class EndpointRegistry {
  public:
    [[nodiscard]] EndpointGroupPtr group(const std::string& upstream);

  private:
    LiveObjects<std::string, EndpointGroup> known_;
};

} // namespace stint::upstream
