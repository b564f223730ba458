// The changes that operators have made at run time, on top of the configuration file.
#pragma once

#include "base/time.hpp"
#include "runtime/limit_changes.hpp"
#include "upstream/endpoint_state.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
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
    Attribution by{};
};

// A record of a lease that an operator has ended by force. It does not affect later leases.
struct EndedLease {
    std::string lock;
    std::string lease; // the lease id in the form that the holder got
    WallTime at{};
    Attribution by{};
};

// A record that an operator has cleared a limit's counters.
struct ClearedCounters {
    std::string limit;
    std::optional<std::string> key; // nullopt: of all keys; empty: of requests without a key
    WallTime at{};
    Attribution by{};
};

// The last records of a kind, the newest last. The oldest is dropped for a new one.
template <class T>
class Recent {
  public:
    static constexpr std::size_t most = 100;

    void add(T record) {
        if (records_.size() >= most)
            records_.pop_front();
        records_.push_back(std::move(record));
    }
    [[nodiscard]] auto begin() const noexcept { return records_.begin(); }
    [[nodiscard]] auto end() const noexcept { return records_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }

  private:
    std::deque<T> records_;
};

// Returns the note of a reload that ends the changes of a limit.
[[nodiscard]] std::string note_of_ended_changes(const std::string& limit);

// Owns the changes of limits, and records drained endpoints, leases ended by force and cleared
// counters. The drained flag itself is in EndpointState. Kept over reloads. Used by the control
// thread alone.
class RuntimeOverlay {
  public:
    [[nodiscard]] const LimitChanges& limits() const noexcept { return limits_; }
    [[nodiscard]] LimitChanges& limits() noexcept { return limits_; }
    // Drops the changes of limits that a reload has ended: a new limit of the same name may be of
    // another kind or have other keys. Returns a line for each ended limit that had changes.
    [[nodiscard]] std::vector<std::string> forget_limits(const std::vector<std::string>& ended);

    // Stops new requests to the endpoint. If it is already drained, its record stays.
    void drain(
        const std::string& upstream,
        const upstream::EndpointStatePtr& endpoint,
        const Now& now,
        Attribution by = {});
    // Allows new requests to the endpoint again.
    void
    enable(const std::string& upstream, const upstream::EndpointStatePtr& endpoint, const Now& now);
    // Returns the drained endpoints, ordered by upstream and endpoint. An endpoint that a reload
    // has removed stays in the list until its last requests end.
    [[nodiscard]] std::vector<DrainedEndpoint> drained() const;

    [[nodiscard]] const Recent<EndedLease>& ended_leases() const noexcept { return ended_leases_; }
    [[nodiscard]] Recent<EndedLease>& ended_leases() noexcept { return ended_leases_; }
    [[nodiscard]] const Recent<ClearedCounters>& cleared() const noexcept { return cleared_; }
    [[nodiscard]] Recent<ClearedCounters>& cleared() noexcept { return cleared_; }

  private:
    struct Drained {
        std::weak_ptr<const upstream::EndpointState> state;
        WallTime since{};
        Attribution by{};
    };

    LimitChanges limits_;
    std::map<std::pair<std::string, std::string>, Drained> drained_; // by upstream and endpoint
    Recent<EndedLease> ended_leases_;
    Recent<ClearedCounters> cleared_;
};

} // namespace stint::runtime
