// One upstream as a worker sees it: its endpoints, and the choice of one for a request.
#pragma once

#include "base/time.hpp"
#include "routing/snapshot.hpp"
#include "upstream/balance.hpp"
#include "upstream/endpoint_group.hpp"
#include "upstream/http1_upstream_stream.hpp"
#include "upstream/in_flight_token.hpp"
#include "upstream/pool.hpp"
#include "upstream/resolver.hpp"
#include "upstream/retry_budget.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stint::upstream {

// Not thread-safe; belongs to one worker and one snapshot.
class Cluster {
  public:
    // One endpoint of it. Lives as long as the cluster.
    struct Member {
        std::shared_ptr<Pool> pool;
        EndpointStatePtr state;
        std::size_t index = 0;
        std::uint64_t seed = 0;
        std::uint32_t weight = 1;
        std::uint32_t max_requests = 0; // 0: any number
        // This worker's requests in flight, if no other worker counts them. Outlives the snapshot.
        std::shared_ptr<std::uint32_t> own_in_flight{};
        std::shared_ptr<StreamSource> streams{}; // on the pool's connections

        [[nodiscard]] EndpointMask bit() const noexcept { return EndpointMask{1} << index; }
    };

    // pools: one per endpoint. own_in_flight: a single endpoint's, if no other worker counts it.
    Cluster(
        const routing::UpstreamSpec& spec,
        std::vector<std::shared_ptr<Pool>> pools,
        std::shared_ptr<std::uint32_t> own_in_flight = std::make_shared<std::uint32_t>());
    // Sets where requests to the member come by their streams.
    void set_streams(std::size_t member, std::shared_ptr<StreamSource> streams) {
        members_[member].streams = std::move(streams);
    }
    Cluster(Cluster&&) noexcept = default;
    Cluster& operator=(Cluster&&) = delete;
    ~Cluster() = default;

    struct Choice {
        Member* member = nullptr; // nullptr: none takes the request
        InFlightToken charge{};   // holds a place on it
        bool full = false;        // no member, though some would take it had they a place
    };
    // Chooses a member and takes a place on it. key: for Balance::hash. not_these: already tried.
    [[nodiscard]] Choice
    choose(SteadyTime now, std::uint64_t key = 0, EndpointMask not_these = 0) noexcept;
    // The fast path: returns the only member if it is up and unbounded, so that no other worker
    // looks at its count. The caller charges own_in_flight. nullptr: call choose().
    [[nodiscard]] Member* the_only(SteadyTime now) noexcept {
        return only_ != nullptr && only_->state->up(now) ? only_ : nullptr;
    }

    // Notes that the member has answered, or failed, which may eject it. why: for people.
    static void succeeded(Member& member) noexcept { member.state->note_success(); }
    void failed(Member& member, std::string_view why, SteadyTime now) noexcept;

    // True if requests may go to the member now, places aside.
    [[nodiscard]] bool takes(const Member& member, SteadyTime now) const noexcept {
        return (willing(now) & member.bit()) != 0;
    }
    [[nodiscard]] RetryBudget& retry_budget() noexcept { return retry_budget_; }

    // Returns how soon a member that is out may take requests again; zero if that is not known.
    [[nodiscard]] Duration back_in(SteadyTime now) const noexcept;

    [[nodiscard]] bool by_hash() const noexcept {
        return balance_.how == routing::Balance::hash && members_.size() > 1;
    }
    // Requests in flight that only this worker counts.
    [[nodiscard]] std::uint32_t own_in_flight() const noexcept {
        return only_ != nullptr ? *only_->own_in_flight : 0;
    }
    // The queue of requests while all members are full; nullptr: they never are.
    [[nodiscard]] EndpointQueue* queue() const noexcept { return queue_; }
    [[nodiscard]] const routing::BalanceSpec& balance() const noexcept { return balance_; }
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
    [[nodiscard]] std::size_t idle() const noexcept;

  private:
    [[nodiscard]] EndpointMask willing(SteadyTime now) const noexcept;
    [[nodiscard]] std::uint64_t weight_of(const Member& member, SteadyTime now) const noexcept;

    routing::BalanceSpec balance_;
    std::vector<Member> members_;
    std::vector<EndpointStatePtr> states_; // the members', for their group
    std::vector<Candidate> candidates_;    // scratch of the choice being made
    Balancer balancer_;
    EndpointQueue* queue_ = nullptr; // the group's
    Member* only_ = nullptr;         // where there is no choice and no bound
    RetryBudget retry_budget_;
};

// Returns an endpoint's addresses: its own, or those that the book has of its name.
[[nodiscard]] std::vector<net::Endpoint>
addresses_of(const routing::EndpointSpec& spec, const AddressBook* book);

// Every pool of one worker, kept over reloads by the endpoint's text.
class Pools {
  public:
    explicit Pools(Http1Buffers& buffers) noexcept : buffers_{buffers} {}

    // Returns the clusters of a snapshot, by index as in Snapshot::upstreams. Retires pools of
    // endpoints that the snapshot no longer has: requests in flight end, nothing is kept.
    [[nodiscard]] std::vector<Cluster> adopt(const routing::Snapshot& snapshot);

    // Applies new addresses to the endpoints that are host names.
    void apply(std::shared_ptr<const AddressBook> book);

    void sweep(SteadyTime now, Duration idle) noexcept;
    void close_idle() noexcept;
    // Closes up to `most` idle connections, the longest idle of each pool. Returns how many.
    std::size_t close_oldest(std::size_t most) noexcept;

  private:
    struct Entry {
        std::shared_ptr<Pool> pool;
        routing::EndpointSpec spec;
    };
    [[nodiscard]] std::shared_ptr<Pool> make_pool(const routing::EndpointSpec& spec) const;

    Http1Buffers& buffers_;
    std::map<std::string, Entry> pools_;
    std::map<std::string, std::shared_ptr<std::uint32_t>> in_flight_; // by the upstream's name
    std::shared_ptr<const AddressBook> book_;
};

} // namespace stint::upstream
