// Everything that a request on one worker may touch. Nothing in it is shared with another thread
// unless its comment says so.
#pragma once

#include "admission/scratch.hpp"
#include "base/hash.hpp"
#include "http/head_buffer.hpp"
#include "http/head_parser.hpp"
#include "http/local_reply.hpp"
#include "http/request_id.hpp"
#include "http/response.hpp"
#include "limits/prepaid.hpp"
#include "limits/top_keys/heavy_hitters.hpp"
#include "net/buffer_pool.hpp"
#include "net/deadlines.hpp"
#include "net/end_events.hpp"
#include "net/splice_pipe.hpp"
#include "net/types.hpp"
#include "observe/access_log.hpp"
#include "observe/metrics.hpp"
#include "proxy/admission/queued_request.hpp"
#include "proxy/downstream/client_connections.hpp"
#include "proxy/object_pool.hpp"
#include "proxy/recent_requests.hpp"
#include "proxy/resource_exhaustion.hpp"
#include "routing/snapshot.hpp"
#include "upstream/cluster.hpp"

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stint::proxy {

class Downstream;
class Exchange;

// A snapshot together with this worker's pools for it. Each worker has its own shared_ptr control
// block, so that the reference counts of requests stay in this core's cache.
struct ActiveConfig {
    routing::SnapshotPtr snapshot;
    std::vector<upstream::Cluster> clusters; // by index as in Snapshot::upstreams
    // By index as in Snapshot::limits; nullptr for a limit without a key. Kept while the limit is.
    std::vector<std::shared_ptr<limits::HeavyHitters>> heavy_hitters;
};

// Shared by all workers.
struct Shared {
    const KeyHasher& hasher;
    limits::AdmissionQueue& admission_queue;
    std::atomic<std::size_t> connections{0};  // open downstream connections
    const KeyHasher ticket_hasher{};          // for slots' tickets alone
    ClientConnections clients{};              // with max_connections_per_client
    ResourceExhaustion resource_exhaustion{}; // lack of descriptors or memory
    OnceASecond failures_logged{};            // failures inside the gateway
    OnceASecond upstream_failures_logged{};   // requests that an upstream has failed
    limits::PrepaidPermits prepaid{};         // permits that requests may show
};

// Lists that a connection may be on.
template <class Tag>
using ListHook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<Tag>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
using Listed = ListHook<struct ListedTag>;
using Watched = ListHook<struct WatchedTag>;

// A connection that may be closed to make room for others: all its requests are answered.
class Sheddable : public ListHook<struct SheddableTag> {
  public:
    // An idle connection is parked after this time: it gives its buffer back and may be closed to
    // make room. A busy client's next request is there before.
    static constexpr Duration park_after = std::chrono::seconds{1};

    virtual void shed() noexcept = 0;

  protected:
    ~Sheddable() = default;
};

struct Context {
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
    // Closes the downstream connection that has lingered for longest. False: none lingers.
    bool shed_lingering() noexcept;

    // Expires deadlines, resumes waiters, polls clients. To be called every 50 ms or so.
    void tick(SteadyTime now);

    // Closes upstream connections that have been idle for too long, and gives back memory that was
    // not needed lately. To be called every second or so.
    void sweep(SteadyTime now);

    // Blocks for heads: max_head, and room for what comes behind the longest head.
    [[nodiscard]] net::BufferPool& head_blocks() noexcept { return *head_pools.back(); }

    static constexpr std::size_t room_behind_head = 4 * 1024;
    // A body of 64 KiB and the head before it: such an answer is read and sent in one piece, at
    // two thirds of the CPU time that two pieces take.
    static constexpr std::size_t body_block_size = 68 * 1024;
    static constexpr std::size_t blocks_kept = 16; // unused blocks kept of each size

    net::Executor executor;
    Shared& shared;
    std::shared_ptr<ActiveConfig> active;
    net::Deadlines deadlines;
    upstream::Pools pools;
    observe::WorkerCounters counters;
    RecentRequests recent;
    observe::AccessLog::Channel access_log;
    WorkerWakeups wakeups;
    bool draining = false; // no connection is kept alive any more
    // Connection slots taken by downstream connections and those that ask for permits: here, or on
    // their way here. Other workers read it and take slots for connections they accepted.
    std::atomic<std::size_t> worker_load{0};

    // One per size of max_head that was ever configured: a block outlives a reload.
    std::vector<std::unique_ptr<net::BufferPool>> head_pools;
    net::BufferPool body_blocks{body_block_size, blocks_kept};
    net::SplicePipes splice_pipes; // for large answers
    ObjectPool<Exchange> exchanges;

    // Scratch, valid until the next suspension.
    http::HeadParser parser;
    http::HeadBuffer head_out;
    http::Response response;
    admission::Scratch scratch;

    http::RequestIdSource request_ids;
    http::DateClock dates;

    template <class Hook>
    using List = boost::intrusive::list<
        Downstream,
        boost::intrusive::base_hook<Hook>,
        boost::intrusive::constant_time_size<false>>;
    List<Listed> connections;
    List<Watched> watched; // connections whose close no pending read would report
    List<Watched> guarded; // stalled ones of these, whose close `ends` reports
    net::EndEvents ends;
    // Connections of all listeners, ordered by when they began to linger or were parked, oldest
    // first.
    using Shedding = boost::intrusive::list<
        Sheddable,
        boost::intrusive::base_hook<ListHook<struct SheddableTag>>,
        boost::intrusive::constant_time_size<false>>;
    Shedding lingering; // answered, and closing in two steps
    Shedding parked;    // idle

  private:
    std::uint64_t shortages_seen_ = 0;
};

// Writes the refusal of a connection of which nothing has been read, and returns it: a view of
// context.head_out.
[[nodiscard]] std::string_view write_refusal(Context& context, int status, std::string_view detail);

} // namespace stint::proxy
