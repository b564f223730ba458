// Applies, logs and records the changes that operators make at run time through the admin listener.
#pragma once

#include "base/time.hpp"
#include "limits/queue/admission_queue.hpp"
#include "locks/lock_manager.hpp"
#include "routing/snapshot.hpp"
#include "runtime/compile.hpp"
#include "runtime/runtime_overlay.hpp"
#include "upstream/endpoint_state.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

// Applies operators' changes of limits, counters, endpoints and leases. Used by the control thread
// alone.
class OperatorChanges {
  public:
    // Called after changes with these targets were made or ended. A target may come twice.
    using Publish = std::function<void(const std::vector<LimitChange::Target>&)>;
    // publish: gives the workers a snapshot with the changes, and saves them. If it throws, it is
    // called with the same targets again, within a second. All references must outlive this object.
    OperatorChanges(
        boost::asio::io_context& control,
        locks::LockManager& locks,
        limits::AdmissionQueue& queue,
        Publish publish);

    [[nodiscard]] const RuntimeOverlay& overlay() const noexcept { return overlay_; }

    // Drains the endpoint (no new requests), or enables it again. Returns the endpoint's state;
    // nullptr if the upstream has no such endpoint.
    upstream::EndpointStatePtr set_drained(
        const routing::UpstreamSpec& upstream,
        std::string_view endpoint,
        bool drained,
        const Attribution& by);

    // put() makes a change of a limit, erase() ends one. Changes outlive a reload as long as their
    // limit does. put() returns false if there are too many changes, erase() if there is no such
    // change. If one of them throws, overlay() may show its effect already; it is then published
    // within a second.
    [[nodiscard]] bool put(LimitChange change);
    [[nodiscard]] bool erase(const LimitChange::Target& target, const Attribution& by);
    // Adds the changes that a former process has saved, without publishing them. Call it before the
    // first configuration is in force. Drops and logs each switch of `enforce` by which `config`
    // would enforce two limits that may not both be enforced (enforced_pairs.hpp). The changes do
    // not expire before start().
    void restore(std::vector<LimitChange> saved, const config::Config& config);
    // Calls RuntimeOverlay::forget_limits(), without publishing the change to the workers.
    [[nodiscard]] std::vector<std::string> forget_limits(const std::vector<std::string>& ended) {
        return overlay_.forget_limits(ended);
    }

    // A key of a limit, as text and as the counters know it.
    struct Key {
        std::string text;
        Hash128 hash;
    };
    // Clears the counters of a key; without one, of all keys. Returns false if they cannot be
    // cleared, as of a concurrency limit (limits::Limit::forget()).
    [[nodiscard]] bool
    clear_counters(const ConfiguredLimit& of, const std::optional<Key>& key, const Attribution& by);

    // Ends a lease by force. Returns false if the lock has no live lease with this id.
    [[nodiscard]] bool
    end_lease(std::string_view lock, std::string_view lease, const Attribution& by);

    // Starts the expiry of restored changes. Call it once the first configuration is in force:
    // their end is published then.
    void start();
    // Stops the expiry of changes, for the shutdown.
    void stop() noexcept;

  private:
    void publish();
    void end_expired(SteadyTime now);
    void await_next_end();
    [[nodiscard]] SteadyTime next_end() const noexcept;

    locks::LockManager& locks_;
    limits::AdmissionQueue& queue_;
    const Publish publish_;
    RuntimeOverlay overlay_;
    std::vector<LimitChange::Target> unpublished_; // targets of changes since the last publication
    // The timer for the next expiry of a change. From start() on a wait for it is always pending. A
    // new expiry time ends the wait, and its handler begins the next one. So a change needs no
    // memory of its own for its expiry.
    boost::asio::steady_timer ends_;
    bool stopped_ = false;
};

} // namespace stint::runtime
