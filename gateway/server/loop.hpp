// State that the downstream connections of one event loop share, whatever their listeners serve.
#pragma once

#include "base/hash.hpp"
#include "base/once_a_second.hpp"
#include "base/time.hpp"
#include "http/head_buffer.hpp"
#include "http/head_parser.hpp"
#include "http/local_reply.hpp"
#include "http/response.hpp"
#include "net/buffer_pool.hpp"
#include "net/deadlines.hpp"
#include "net/types.hpp"
#include "observe/metrics.hpp"
#include "server/client_connections.hpp"
#include "server/client_watch.hpp"
#include "server/http1_stream.hpp"
#include "server/http2_stream.hpp"
#include "server/resource_exhaustion.hpp"
#include "server/stream_pool.hpp"

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace stint::server {

class Http1Connection;
class Successor;

// Totals over all event loops that share the gateway's connections. Thread-safe.
struct Totals {
    explicit Totals(const KeyHasher& keys) : hasher{keys} {}

    const KeyHasher& hasher;
    std::atomic<std::size_t> connections{0};  // open downstream connections
    ClientConnections clients{};              // used with max_connections_per_client
    ResourceExhaustion resource_exhaustion{}; // lack of descriptors or memory
    OnceASecond failures_logged{};            // limits log lines about failures in the gateway
    // The process that decides about all requests from now on; null: this one does. Set while no
    // loop runs a handler.
    Successor* successor = nullptr;
};

// Hook of a list that a connection may be on. A destroyed connection leaves its lists.
template <class Tag>
using ListHook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<Tag>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
using Listed = ListHook<struct ListedTag>;

// A connection that may be closed to make room for others: all its requests are answered.
class Sheddable : public ListHook<struct SheddableTag> {
  public:
    // An idle connection is parked after this time: it gives its buffer back and may be closed to
    // make room. A busy client sends its next request sooner.
    static constexpr Duration park_after = std::chrono::seconds{1};

    virtual void shed() noexcept = 0;

  protected:
    ~Sheddable() = default;
};

// One for each event loop. Not thread-safe, except as noted.
struct Loop {
    // All arguments must outlive the loop. largest_head: bytes of the longest head that any
    // listener may take. most_fields: largest number of fields in a head.
    Loop(
        net::Executor loop_executor,
        Totals& all_loops,
        observe::WorkerCounters& loop_counters,
        std::size_t largest_head,
        std::size_t most_fields = 128);
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop();

    // Returns the pool of blocks for heads of up to max_head bytes, with room for bytes behind the
    // longest head. It lives as long as the loop.
    [[nodiscard]] net::BufferPool& head_blocks(std::size_t max_head);

    // Closes the connection that has lingered for longest. Returns false if none lingers.
    bool shed_lingering() noexcept;
    // Closes up to `most` connections: lingering ones first, then parked ones, of each kind the
    // oldest first. Returns the number closed.
    std::size_t shed_connections(std::size_t most) noexcept;

    // over = false: ends connections without a request in flight soon, and the others after their
    // response; called with every tick while draining. over = true: ends all connections now.
    void drain_connections(bool over) noexcept;
    // Ends all connections now.
    void abort_connections() noexcept { drain_connections(true); }

    // Gives back memory that was not needed lately. To be called every second or so.
    void trim() noexcept;

    static constexpr std::size_t room_behind_head = 4 * 1024;
    // Holds a body of 64 KiB and the head before it: such a response is read and sent in one piece,
    // at two thirds of the CPU time that two pieces take.
    static constexpr std::size_t body_block_size = 68 * 1024;
    static constexpr std::size_t blocks_kept = 16; // unused blocks kept of each size

    net::Executor executor;
    Totals& totals;
    net::Deadlines deadlines;
    observe::WorkerCounters& counters;
    bool draining = false; // no connection is kept alive any more
    // Number of connection slots taken on this worker, also by connections that are being handed to
    // it. Other workers compare this number, and take a slot here for each connection that they
    // hand over.
    std::atomic<std::size_t> worker_load{0};

    net::BufferPool body_blocks{body_block_size, blocks_kept};
    StreamPool<Http1Stream> streams;
    StreamPool<Http2Stream> http2_streams;

    // Scratch objects. Their contents are valid until the next co_await.
    http::HeadParser parser;
    http::HeadBuffer head_out;
    http::Response response;

    http::DateClock dates;

    boost::intrusive::list<
        Http1Connection,
        boost::intrusive::base_hook<Listed>,
        boost::intrusive::constant_time_size<false>>
        connections;
    ClientWatch clients; // its poll() is called with every tick
    // Connections ordered by when they began to linger or were parked, oldest first.
    using Shedding = boost::intrusive::list<
        Sheddable,
        boost::intrusive::base_hook<ListHook<struct SheddableTag>>,
        boost::intrusive::constant_time_size<false>>;
    Shedding lingering; // all requests answered; waiting for the client's close
    Shedding parked;    // idle connections that have given their buffers back

  private:
    // One for each max_head that was ever configured: a block outlives a reload.
    std::vector<std::unique_ptr<net::BufferPool>> head_pools_;
};

// Writes the refusal of a connection of which nothing has been read, and returns it: a view of
// loop.head_out.
[[nodiscard]] std::string_view write_refusal(Loop& loop, int status, std::string_view detail);

} // namespace stint::server
