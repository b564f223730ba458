// Applies, logs and records the changes that operators make at run time through the admin listener.
#pragma once

#include "base/time.hpp"
#include "locks/lock_manager.hpp"
#include "routing/snapshot.hpp"
#include "runtime/runtime_overlay.hpp"
#include "upstream/endpoint_state.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

// Applies operators' changes of overrides, endpoints and leases. Used by the control thread alone.
class OperatorChanges {
  public:
    // publish: called after overrides have changed; gives the workers a snapshot with them. All
    // references must outlive this object.
    OperatorChanges(
        boost::asio::io_context& control, locks::LockManager& locks, std::function<void()> publish);

    [[nodiscard]] const RuntimeOverlay& overlay() const noexcept { return overlay_; }

    // Drains the endpoint (no new requests), or enables it again. Returns the endpoint's state;
    // nullptr if the upstream has no such endpoint.
    upstream::EndpointStatePtr
    set_drained(const routing::UpstreamSpec& upstream, std::string_view endpoint, bool drained);
    // Sets or deletes an override: the quota of the keys that match a pattern. Overrides outlive a
    // reload as long as their limit does. put_override() returns false if there are too many
    // overrides, erase_override() if the limit has no override with this pattern.
    [[nodiscard]] bool put_override(const std::string& limit, LiveOverride override);
    [[nodiscard]] bool erase_override(const std::string& limit, std::string_view pattern);
    // Calls RuntimeOverlay::forget_overrides(), without publishing the change to the workers.
    [[nodiscard]] std::vector<std::string>
    forget_overrides(const std::vector<std::string>& ended_limits) {
        return overlay_.forget_overrides(ended_limits);
    }
    // Ends a lease by force. Returns false if the lock has no live lease with this id.
    [[nodiscard]] bool end_lease(std::string_view lock, std::string_view lease);

    // Stops the expiry of overrides, for the shutdown.
    void stop() noexcept;

  private:
    void publish_overrides();
    void await_end_of_override();

    locks::LockManager& locks_;
    const std::function<void()> publish_;
    RuntimeOverlay overlay_;
    boost::asio::steady_timer next_end_; // timer for the next expiry of an override
    bool stopped_ = false;
};

} // namespace stint::runtime
