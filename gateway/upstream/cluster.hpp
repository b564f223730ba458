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
    // One endpoint of the upstream. Lives as long as the cluster.
    struct Member {
        std::shared_ptr<Pool> pool;
        EndpointStatePtr state;
        std::size_t index = 0;
        std::uint64_t seed = 0;
        std::uint32_t weight = 1;
        std::uint32_t max_requests = 0; // 0: any number
        // Number of this worker's requests in flight, used if the upstream has a single endpoint
        // and that has no max_requests: other workers do not need the number. Kept over reloads.
        std::shared_ptr<std::uint32_t> own_in_flight{};
        std::shared_ptr<StreamSource> streams{}; // makes streams on the pool's connections

        [[nodiscard]] EndpointMask bit() const noexcept { return EndpointMask{1} << index; }
    };

    // pools: one per endpoint. own_in_flight: the counter for Member::own_in_flight.
    Cluster(
        const routing::UpstreamSpec& spec,
        std::vector<std::shared_ptr<Pool>> pools,
        std::shared_ptr<std::uint32_t> own_in_flight = std::make_shared<std::uint32_t>());
    // Sets the source of streams for requests to the member.
    void set_streams(std::size_t member, std::shared_ptr<StreamSource> streams) {
        members_[member].streams = std::move(streams);
    }
    Cluster(Cluster&&) noexcept = default;
    Cluster& operator=(Cluster&&) = delete;
    ~Cluster() = default;

    struct Choice {
        Member* member = nullptr; // nullptr: no member takes the request
        InFlightToken charge{};   // holds the request's slot on the member
        bool full = false;        // members may take requests, but none of them has a free slot
    };
    // Chooses a member and takes a slot on it (a request in flight, counted against max_requests).
    // key: the key that Balance::hash hashes. not_these: members that must not be chosen, because
    // the request has tried them already.
    [[nodiscard]] Choice
    choose(SteadyTime now, std::uint64_t key = 0, EndpointMask not_these = 0) noexcept;
    // The fast path of choose(). Returns the only member if it is up and has no max_requests; the
    // caller then counts the request in Member::own_in_flight. Returns nullptr otherwise: call
    // choose().
    [[nodiscard]] Member* the_only(SteadyTime now) noexcept {
        return only_ != nullptr && only_->state->up(now) ? only_ : nullptr;
    }

    // succeeded() notes that the member has answered, failed() that it has failed; a failure may
    // eject the member. why: the failure, for people.
    static void succeeded(Member& member) noexcept { member.state->note_success(); }
    void failed(Member& member, std::string_view why, SteadyTime now) noexcept;

    // True if requests may go to the member now. It need not have a free slot.
    [[nodiscard]] bool takes(const Member& member, SteadyTime now) const noexcept {
        return (willing(now) & member.bit()) != 0;
    }
    [[nodiscard]] RetryBudget& retry_budget() noexcept { return retry_budget_; }

    // Returns the time until the first member may take requests again. Considers the ends of
    // ejections and the next checks of unhealthy members, but no drained member. Zero if that time
    // is not known.
    [[nodiscard]] Duration back_in(SteadyTime now) const noexcept;

    [[nodiscard]] bool by_hash() const noexcept {
        return balance_.how == routing::Balance::hash && members_.size() > 1;
    }
    // Returns the number of requests in flight that Member::own_in_flight counts; 0 if the cluster
    // does not use it.
    [[nodiscard]] std::uint32_t own_in_flight() const noexcept {
        return only_ != nullptr ? *only_->own_in_flight : 0;
    }
    // Returns the queue of requests that wait while all members are full; nullptr if no member has
    // max_requests.
    [[nodiscard]] EndpointQueue* queue() const noexcept { return queue_; }
    [[nodiscard]] const routing::BalanceSpec& balance() const noexcept { return balance_; }
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
    [[nodiscard]] std::size_t idle() const noexcept;

  private:
    [[nodiscard]] EndpointMask willing(SteadyTime now) const noexcept;
    [[nodiscard]] std::uint64_t weight_of(const Member& member, SteadyTime now) const noexcept;

    routing::BalanceSpec balance_;
    std::vector<Member> members_;
    std::vector<EndpointStatePtr> states_; // states of the members, for EndpointGroup::eject()
    std::vector<Candidate> candidates_;    // scratch of the choice being made
    Balancer balancer_;
    EndpointQueue* queue_ = nullptr; // queue of the endpoint group
    Member* only_ = nullptr;         // the single member, if it has no max_requests
    RetryBudget retry_budget_;
};

// Returns an endpoint's addresses: its literal address or Unix socket, or the book's addresses of
// its host name. Empty if the book is null or lacks the name.
[[nodiscard]] std::vector<net::Endpoint>
addresses_of(const routing::EndpointSpec& spec, const AddressBook* book);

// All connection pools of one worker. A pool is kept over reloads while an endpoint with its text
// and TLS settings is configured.
class Pools {
  public:
    explicit Pools(Http1Buffers& buffers) noexcept : buffers_{buffers} {}

    // Returns the clusters of a snapshot, with the same indices as Snapshot::upstreams. Retires the
    // pools that the snapshot does not use: their requests in flight go on, and their connections
    // are closed afterwards.
    [[nodiscard]] std::vector<Cluster> adopt(const routing::Snapshot& snapshot);

    // Sets the addresses of all endpoints whose host is a name. The book also serves pools that
    // adopt() makes later.
    void apply(std::shared_ptr<const AddressBook> book);

    // Sweeps each pool: see Pool::sweep().
    void sweep(SteadyTime now, Duration idle) noexcept;
    // Retires each pool: closes all idle connections, and keeps none from then on.
    void close_idle() noexcept;
    // Closes up to `most` idle connections, the longest idle of each pool first. Returns the number
    // closed.
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
