// One thread with its own event loop, listeners, connections and upstream pools.
#pragma once

#include "net/acceptor.hpp"
#include "observe/access_log.hpp"
#include "observe/metrics.hpp"
#include "permits/service.hpp"
#include "proxy/context.hpp"
#include "routing/snapshot.hpp"
#include "runtime/listener.hpp"

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

// What a worker takes over in one step, at start and at every reload.
struct WorkerUpdate {
    routing::SnapshotPtr snapshot;
    SlotCounts slots;
    std::vector<OpenedListener> opened;
    std::map<std::string, ListenerRole> listeners; // all that shall be open
};

// Public functions are called from the control thread.
class Worker {
  public:
    Worker(proxy::Shared& shared, permits::Shared& permits, observe::AccessLog::Channel log);
    ~Worker();

    // Connections are evened out among all workers that join the same. Before they start.
    void join(std::shared_ptr<ConnectionDispatchers> dispatchers);

    // On this core alone, where one is named.
    void start(std::optional<int> core = std::nullopt);

    // Ends the thread. Of several workers all end theirs before one of them is destroyed.
    void stop() noexcept;

    // Runs `task` on the worker's thread, soon.
    void post(std::function<void(proxy::Context&)> task);

    void adopt(WorkerUpdate adoption);

    // No new connections; those without a request are closed, the others after their response.
    // `done` is called on the worker's thread when none is left, once; `most` later the rest is
    // cut.
    void drain(Duration most, std::function<void()> done);

  private:
    void take(WorkerUpdate& adoption);
    void tick();
    void look_whether_drained();

    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    // Declared first, destroyed last: suspended coroutines end inside ~io_context and still refer
    // to the context and the listeners.
    std::unique_ptr<proxy::Context> context_;
    std::unique_ptr<permits::Service> permits_;
    std::unique_ptr<ConnectionDispatcher> dispatcher_;
    std::map<std::string, std::shared_ptr<Listener>> listeners_;
    std::unique_ptr<net::asio::io_context> loop_;
    std::unique_ptr<Timer> ticker_;
    unsigned ticks_ = 0;
    SteadyTime drain_until_{};
    std::function<void()> drained_;
    std::thread thread_;
};

// Makes them even out their connections, and starts them. pinned: each on a core of its own, in
// turn where there are more of them than cores.
void start_workers(const std::vector<std::unique_ptr<Worker>>& workers, bool pinned);

} // namespace stint::runtime
