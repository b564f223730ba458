// All workers, and the state that they share.
#pragma once

#include "base/time.hpp"
#include "limits/registry.hpp"
#include "limits/top_keys/heavy_hitters.hpp"
#include "observe/access_log.hpp"
#include "observe/metrics.hpp"
#include "permits/shared.hpp"
#include "proxy/context.hpp"
#include "runtime/queue_timer_thread.hpp"
#include "runtime/worker.hpp"

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stint::runtime {

// Owns the workers, posts tasks to them, and collects their results. All public functions are
// called on the control thread.
class WorkerPool {
  public:
    // All arguments must outlive this object.
    WorkerPool(
        net::asio::io_context& control, limits::Registry& registry, QueueTimerThread& openings);
    // Calls end().
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // Makes `count` workers without starting them. log: must outlive the workers.
    void make(std::size_t count, observe::AccessLog& log);
    // Starts the workers. pinned: pins each worker to a CPU core.
    void start(bool pinned);

    [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }

    // Calls visit(index, worker) for each worker, on the calling thread.
    void for_each(const std::function<void(std::size_t, Worker&)>& visit);
    // Posts a copy of `task` to each worker's thread, and returns without waiting.
    void post(const std::function<void(proxy::Context&)>& task);

    // Calls `done` on the control thread once all workers have run what was posted to them before.
    void await_posted(std::function<void()> done);
    // Collects the counters of all workers; calls `done` with their sum on the control thread.
    void collect(std::function<void(observe::WorkerCounters)> done);

    // Collects the heaviest keys of a limit from all workers; calls `done` with the merged list of
    // at most `most` keys on the control thread.
    void collect_top(
        limits::LimitPtr limit,
        std::size_t most,
        limits::HeavyHitters::By by,
        std::function<void(const limits::HeavyHitters::Top&)> done);

    // Searches all workers for the latest recorded request with this X-Request-Id; calls `done` on
    // the control thread, with nullopt if no worker has one.
    void find_recent(
        const std::string& request_id,
        std::function<void(const std::optional<proxy::RecentRequests::Record>&)> done);

    // Tells all workers to stop between two handlers, until the pause ends.
    [[nodiscard]] std::shared_ptr<WorkersPause> pause();
    // Returns copies of the listening sockets of all workers. Requires: all are paused.
    [[nodiscard]] std::vector<Descriptor> copy_listening_sockets();
    // Ends the pause: the workers hand their connections over, and drain for at most `most`. Calls
    // `given` on the control thread when all idle connections and all waiting requests were handed
    // over, and `done` as drain() does.
    void hand_over(
        WorkersPause& pause,
        server::Successor& successor,
        Duration most,
        std::function<void()> given,
        std::function<void()> done);
    // Goes on with a connection of the process that this one has replaced, on the worker of this
    // number (modulo size()); then calls `done` on the control thread.
    void
    go_on_with(std::size_t worker, server::HandedConnection handed, std::function<void()> done);

    // Drains all workers for at most `most`; calls `done` once on the control thread when all have
    // finished. A second call replaces the time and `done`.
    void drain(Duration most, std::function<void()> done);

    // Ends all threads, then destroys the workers. Idempotent.
    void end() noexcept;

    // State that all workers share.
    [[nodiscard]] proxy::Shared& shared() noexcept { return shared_; }
    // State that the permits of all workers share.
    [[nodiscard]] permits::Shared& permits() noexcept { return permits_; }
    // The count of the requests of all workers.
    [[nodiscard]] const proxy::RequestsInFlight& in_flight() const noexcept {
        return shared_.in_flight;
    }
    // Returns the number of dynamic limits: limits that clients of the permit API defined in their
    // requests.
    [[nodiscard]] std::size_t dynamic_limits() const { return permits_.dynamic.size(); }

  private:
    void worker_drained();

    net::asio::io_context& control_;
    proxy::Shared shared_;
    permits::Shared permits_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::function<void()> drained_; // empty unless the pool drains
    std::size_t draining_ = 0;      // workers that have not finished draining
};

} // namespace stint::runtime
