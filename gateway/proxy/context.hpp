// State of one worker, used by all its requests. Only the worker's thread may touch a member,
// unless the member's comment says otherwise.
#pragma once

#include "admission/scratch.hpp"
#include "base/hash.hpp"
#include "base/object_pool.hpp"
#include "http/request_id.hpp"
#include "limits/prepaid.hpp"
#include "limits/top_keys/heavy_hitters.hpp"
#include "net/splice_pipe.hpp"
#include "net/types.hpp"
#include "observe/access_log.hpp"
#include "proxy/admission/queued_request.hpp"
#include "proxy/admission/worker_shares.hpp"
#include "proxy/recent_requests.hpp"
#include "proxy/requests_in_flight.hpp"
#include "routing/snapshot.hpp"
#include "server/loop.hpp"
#include "server/settings.hpp"
#include "upstream/origin.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stint::proxy {

class Exchange;

// A snapshot together with this worker's pools for it. Each worker has its own shared_ptr control
// block, so that the reference counts of requests stay in this core's cache.
struct ActiveConfig {
    routing::SnapshotPtr snapshot;
    std::vector<upstream::OriginPtr> origins; // same indices as Snapshot::upstreams
    // Same indices as Snapshot::limits; nullptr for a limit without a key. A reload that keeps a
    // limit keeps its heavy hitters. Shared by snapshots that differ only in the settings of limits
    // (routing::LimitTerms).
    using HeavyHittersByLimit = std::vector<std::shared_ptr<limits::HeavyHitters>>;
    std::shared_ptr<const HeavyHittersByLimit> heavy_hitters;
    server::ConnectionSettings
        connections; // settings of the listeners whose requests are forwarded

    // Returns the limit's heavy hitters; nullptr for a limit without a key, and for one that is not
    // the snapshot's.
    [[nodiscard]] limits::HeavyHitters*
    heavy_hitters_of(routing::AppliedLimit limit) const noexcept {
        const auto& terms = snapshot->limits;
        const std::uint32_t index = limit.on_route->index;
        const bool known = index < terms.size() && terms[index].get() == limit.terms;
        return known ? (*heavy_hitters)[index].get() : nullptr;
    }
    // Returns the heavy hitters of the limit with this index, which must have a key.
    [[nodiscard]] limits::HeavyHitters& heavy_hitters_of(std::uint32_t limit) const noexcept {
        return *(*heavy_hitters)[limit];
    }
};

// State that all workers share. Thread-safe.
struct Shared : server::Totals {
    Shared(const KeyHasher& keys, limits::AdmissionQueue& queue)
        : server::Totals{keys}, admission_queue{queue} {}

    limits::AdmissionQueue& admission_queue;
    const KeyHasher ticket_hasher{};        // hashes tickets of concurrency slots, nothing else
    OnceASecond upstream_failures_logged{}; // limits the log lines about failed upstreams
    limits::PrepaidPermits prepaid{}; // permits acquired in advance, which a later request presents
    RequestsInFlight in_flight{};     // used with max_requests_in_flight
};

struct Context : server::Loop {
    Context(
        net::Executor worker_executor,
        Shared& shared_state,
        observe::AccessLog::Channel log_channel);
    ~Context();

    // Makes new requests use this snapshot. Requests in flight keep the snapshot they began with.
    void adopt(routing::SnapshotPtr snapshot);
    // Does the same as adopt(), for a snapshot that differs from the active one only in the
    // settings of limits (routing::LimitTerms). The time it takes does not depend on the number of
    // routes.
    void adopt_terms(routing::SnapshotPtr snapshot);

    // Closes some idle connections to free their descriptors: downstream connections first, then
    // upstream ones, and the longest idle first among each kind. Returns the number closed.
    std::size_t close_idle_connections() noexcept;

    // Expires deadlines, resumes requests whose limits have decided, and checks for clients that
    // have gone. After a lack of descriptors, closes idle connections. Called about every 50 ms.
    void tick(SteadyTime now);

    // Closes upstream connections that were idle for too long, and frees memory that was not needed
    // lately. Called about every second.
    void sweep(SteadyTime now);

    // The totals of all workers.
    [[nodiscard]] Shared& shared() const noexcept { return static_cast<Shared&>(totals); }

    std::shared_ptr<ActiveConfig> active;
    upstream::Origins origins{body_blocks, head_out, parser};
    RecentRequests recent;
    observe::AccessLog::Channel access_log;
    WorkerWakeups wakeups;
    WorkerShares shares;

    net::SplicePipes splice_pipes; // for large response bodies
    ObjectPool<Exchange> exchanges;

    admission::Scratch scratch; // its contents are valid until the next co_await
    http::RequestIdSource request_ids;

  private:
    observe::WorkerCounters own_counters_; // Loop::counters refers to this member
    std::uint64_t shortages_seen_ = 0;
};

} // namespace stint::proxy
