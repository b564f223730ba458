// One thread with its own event loop, listeners, connections and upstream pools.
#pragma once

#include "net/acceptor.hpp"
#include "observe/access_log.hpp"
#include "observe/metrics.hpp"
#include "permits/service.hpp"
#include "proxy/context.hpp"
#include "proxy/service.hpp"
#include "routing/snapshot.hpp"
#include "runtime/listener.hpp"
#include "runtime/upgrade/workers_pause.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace stint::runtime {

struct SlotCounts {
    std::size_t routes = 0;
    std::size_t refusals = 0;
    std::size_t upstreams = 0;
    std::size_t waits = 0;
};

// A listening socket for one worker.
struct OpenedListener {
    std::string name; // the address as configured
    net::Endpoint address;
    Descriptor socket;
};

// The state that a worker adopts in one step, at start and after every reload. slots: sizes of the
// counter arrays.
struct WorkerUpdate {
    routing::SnapshotPtr snapshot;
    SlotCounts slots;
    std::vector<OpenedListener> opened;
    std::map<std::string, ListenerRole> listeners; // roles of open listeners, by their address
};

// A worker thread. All public functions are called on the control thread.
class Worker {
  public:
    Worker(proxy::Shared& shared, permits::Shared& permits, observe::AccessLog::Channel log);
    ~Worker();

    // Balances connections among all workers that join the same list. Call it before any of them
    // starts.
    void join(std::shared_ptr<ConnectionDispatchers> dispatchers);

    // Starts the thread. core: the CPU core to pin it to; nullopt to leave it unpinned.
    void start(std::optional<int> core = std::nullopt);

    // Ends the thread. All workers' threads must end before any worker is destroyed.
    void stop() noexcept;

    // Posts `task` to the worker's thread, and returns without waiting.
    void post(std::function<void(proxy::Context&)> task);

    void adopt(WorkerUpdate adoption);
    // Adopts a snapshot that differs from the last one only in the terms of limits.
    void adopt_terms(routing::SnapshotPtr snapshot, const SlotCounts& slots);

    // Goes on with a connection of the process that this one has replaced; then calls `done` on the
    // worker's thread.
    void go_on_with(server::HandedConnection handed, std::function<void()> done);

    // Stops the worker's thread between two handlers, until the pause ends. If the connections are
    // to be handed over then, does what hand_over() says.
    void pause(std::shared_ptr<WorkersPause> pause);
    // Returns copies of the listening sockets. Requires: the worker is paused.
    [[nodiscard]] std::vector<Descriptor> copy_listening_sockets();

    // Drains the worker: stops accepting, closes idle connections at once and busy ones after
    // their response, and all that remain after `most`. Calls `done` once, on the worker's
    // thread, when no connection is left.
    void drain(Duration most, std::function<void()> done);

  private:
    void hand_over(const WorkersPause::Orders& orders);
    void close_listeners() noexcept;
    void take(WorkerUpdate& adoption);
    void fit(const SlotCounts& slots);
    void tick();
    void look_whether_drained();

    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    // Declared before loop_, so destroyed after it: ~io_context ends suspended coroutines, which
    // still refer to the context and the listeners.
    std::unique_ptr<proxy::Context> context_;
    std::unique_ptr<proxy::Service> proxied_;
    std::unique_ptr<permits::Service> permits_;
    std::unique_ptr<ConnectionDispatcher> dispatcher_;
    std::multimap<std::string, std::shared_ptr<Listener>> listeners_; // by address, as configured
    std::unique_ptr<net::asio::io_context> loop_;
    std::unique_ptr<Timer> ticker_;
    unsigned ticks_ = 0;
    SteadyTime drain_until_{};
    std::function<void()> drained_;
    std::thread thread_;
};

// Joins the workers for balancing, and starts them. pinned: pins each worker to a CPU core,
// round-robin if there are more workers than cores.
void start_workers(const std::vector<std::unique_ptr<Worker>>& workers, bool pinned);

} // namespace stint::runtime
