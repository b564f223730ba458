// The changes that operators make at run time through the admin listener: each is carried out,
// logged and recorded.
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

// Used by the control thread alone.
class OperatorChanges {
  public:
    // publish: publishes the present overrides to the workers. References outlive this.
    OperatorChanges(
        boost::asio::io_context& control, locks::LockManager& locks, std::function<void()> publish);

    [[nodiscard]] const RuntimeOverlay& overlay() const noexcept { return overlay_; }

    // Stops new requests to the endpoint, or allows them again. Returns its state, nullptr if the
    // upstream has no such endpoint.
    upstream::EndpointStatePtr
    set_drained(const routing::UpstreamSpec& upstream, std::string_view endpoint, bool drained);
    // Overrides are quotas for some keys; they outlive a reload while their limit does. put returns
    // false if there are too many; erase if there is none.
    [[nodiscard]] bool put_override(const std::string& limit, LiveOverride override);
    [[nodiscard]] bool erase_override(const std::string& limit, std::string_view pattern);
    // Calls RuntimeOverlay::forget_overrides(). Publishes nothing.
    [[nodiscard]] std::vector<std::string>
    forget_overrides(const std::vector<std::string>& ended_limits) {
        return overlay_.forget_overrides(ended_limits);
    }
    // Ends a lease in its holder's place. False: the lock has no such live lease.
    [[nodiscard]] bool end_lease(std::string_view lock, std::string_view lease);

    // From now on no override expires.
    void stop() noexcept;

  private:
    void publish_overrides();
    void await_end_of_override();

    locks::LockManager& locks_;
    const std::function<void()> publish_;
    RuntimeOverlay overlay_;
    boost::asio::steady_timer next_end_; // end of the next override that expires
    bool stopped_ = false;
};

} // namespace stint::runtime
