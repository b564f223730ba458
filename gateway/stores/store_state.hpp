// The state of a store of shared limits, for people and metrics.
#pragma once

#include "base/time.hpp"
#include "redis/voter.hpp"
#include "shared/session.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace stint::stores {

// The state of a store. As of the latest beat, or of the latest change.
struct StoreState {
    bool up = false;            // the server answers
    std::string address = {};   // the server's; empty without a connection
    SteadyTime up_since = {};   // valid if up
    Duration round_trip = {};   // the last reply's
    std::uint64_t times_up = 0; // how often the server has come up
    std::string unfit = {};     // why the server is not used; empty: it is
    // The reason why the server is not used for want of a majority that names it; empty: a majority
    // does, or the store has neither Sentinels nor a Cluster.
    std::string unconfirmed = {};
    std::vector<redis::VoterState> voters = {}; // the Sentinels, or nodes of the Cluster
    std::string last_error = {}; // the last reason why the server was down or refused a call
    SteadyTime last_error_at = {};

    shared::SessionState session = shared::SessionState::unknown;
    std::string session_name = {};
    std::string epoch = {};
    bool learned = false;     // see shared::Session::learned()
    Duration quiet_span{-1};  // see shared::Session::quiet_span()
    SteadyTime ends_at = {};  // from this instant on no share may be used
    bool asking = false;      // wants go to the store
    std::size_t counters = 0; // counters with a share, or with a want
    bool withholds = false;   // see shared::ShareClient::withholds()
};

// The latest state of a store. Thread-safe.
class PublishedState {
  public:
    void set(StoreState state) {
        const std::lock_guard lock{mutex_};
        state_ = std::move(state);
    }
    [[nodiscard]] StoreState get() const {
        const std::lock_guard lock{mutex_};
        return state_;
    }

  private:
    mutable std::mutex mutex_;
    StoreState state_;
};

// Counts since the start. Any thread reads them; the store's own writes them, but for `wants`.
struct StoreCounters {
    std::atomic<std::uint64_t> wants{0};         // requests for a larger share
    std::atomic<std::uint64_t> told{0};          // wants that the store has answered
    std::atomic<std::uint64_t> failed{0};        // wants without an answer of the store
    std::atomic<std::uint64_t> calls{0};         // calls of the store's script
    std::atomic<std::uint64_t> failed_calls{0};  // calls without a reply
    std::atomic<std::uint64_t> learnt_pauses{0}; // pauses of other gateways that hold here, too
    std::atomic<std::uint64_t> sessions{0};      // sessions that were begun
    std::atomic<std::uint64_t> downs{0};         // how often the server was up and went down
};

} // namespace stint::stores
