// Everything that a request on one worker may touch. Nothing in it is shared with another thread
// unless its comment says so.
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
#include "proxy/recent_requests.hpp"
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
    std::vector<upstream::OriginPtr> origins; // by index as in Snapshot::upstreams
    // By index as in Snapshot::limits; nullptr for a limit without a key. Kept while the limit is.
    std::vector<std::shared_ptr<limits::HeavyHitters>> heavy_hitters;
    server::ConnectionSettings connections; // listeners for requests to forward
};

// Shared by all workers.
struct Shared : server::Totals {
    Shared(const KeyHasher& keys, limits::AdmissionQueue& queue)
        : server::Totals{keys}, admission_queue{queue} {}

    limits::AdmissionQueue& admission_queue;
    const KeyHasher ticket_hasher{};        // for slots' tickets alone
    OnceASecond upstream_failures_logged{}; // requests that an upstream has failed
    limits::PrepaidPermits prepaid{};       // permits that requests may show
};

struct Context : server::Loop {
    Context(
        net::Executor worker_executor,
        Shared& shared_state,
        observe::AccessLog::Channel log_channel);
    ~Context();

    // Adopts a new snapshot for all requests from now on; those under way end under their own.
    void adopt(routing::SnapshotPtr snapshot);

    // Closes some idle connections, so that there are descriptors again: downstream ones first, and
    // of each kind the longest idle. Returns how many it has closed.
    std::size_t close_idle_connections() noexcept;

    // Expires deadlines, resumes waiters, polls clients. To be called every 50 ms or so.
    void tick(SteadyTime now);

    // Closes upstream connections that have been idle for too long, and gives back memory that was
    // not needed lately. To be called every second or so.
    void sweep(SteadyTime now);

    // The totals of all workers.
    [[nodiscard]] Shared& shared() const noexcept { return static_cast<Shared&>(totals); }

    std::shared_ptr<ActiveConfig> active;
    upstream::Origins origins{body_blocks, head_out, parser};
    RecentRequests recent;
    observe::AccessLog::Channel access_log;
    WorkerWakeups wakeups;

    net::SplicePipes splice_pipes; // for large answers
    ObjectPool<Exchange> exchanges;

    admission::Scratch scratch; // valid until the next suspension
    http::RequestIdSource request_ids;

  private:
    observe::WorkerCounters own_counters_; // Loop::counters
    std::uint64_t shortages_seen_ = 0;
};

} // namespace stint::proxy
