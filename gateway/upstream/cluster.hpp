// One upstream as a worker sees it: its endpoints' pools, taken in turn.
#pragma once

#include "routing/snapshot.hpp"
#include "upstream/pool.hpp"
#include "upstream/resolver.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stint::upstream {

// Not thread-safe; belongs to one worker and one snapshot.
class Cluster {
  public:
    explicit Cluster(std::vector<std::shared_ptr<Pool>> pools) : pools_{std::move(pools)} {}

    // The endpoint whose turn it is: one turn a request.
    [[nodiscard]] Pool& next() noexcept {
        Pool& pool = *pools_[turn_];
        turn_ = turn_ + 1 == pools_.size() ? 0 : turn_ + 1;
        return pool;
    }
    [[nodiscard]] std::size_t size() const noexcept { return pools_.size(); }
    [[nodiscard]] std::size_t idle() const noexcept;

  private:
    std::vector<std::shared_ptr<Pool>> pools_;
    std::size_t turn_ = 0;
};

// Every pool of one worker, kept over reloads by the endpoint's text.
class Pools {
  public:
    // The clusters of a snapshot, by index as in Snapshot::upstreams. Pools of endpoints that the
    // snapshot no longer has are retired: requests in flight end, nothing is kept.
    [[nodiscard]] std::vector<Cluster> adopt(const routing::Snapshot& snapshot);

    // New addresses for the endpoints that are host names.
    void apply(std::shared_ptr<const AddressBook> book);

    void sweep(SteadyTime now, Duration idle) noexcept;
    void close_idle() noexcept;
    // Closes up to `most` idle connections, of each pool those that have been idle for longest, and
    // gives how many.
    std::size_t close_oldest(std::size_t most) noexcept;

  private:
    struct Entry {
        std::shared_ptr<Pool> pool;
        routing::EndpointSpec spec;
    };
    [[nodiscard]] std::shared_ptr<Pool> make_pool(const routing::EndpointSpec& spec) const;
    [[nodiscard]] std::vector<net::Endpoint> addresses_of(const routing::EndpointSpec& spec) const;

    std::map<std::string, Entry> pools_;
    std::shared_ptr<const AddressBook> book_;
};

} // namespace stint::upstream
