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

// Posts tasks to the workers, and collects their results on the control thread. Public functions
// are called on the control thread.
class WorkerPool {
  public:
    // All three outlive this.
    WorkerPool(
        net::asio::io_context& control, limits::Registry& registry, QueueTimerThread& openings);
    // Does the same as end().
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // Makes the workers; they do not run yet. log: outlives them.
    void make(std::size_t count, observe::AccessLog& log);
    // Starts them, pinned: each on a core of its own.
    void start(bool pinned);

    [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }

    // Calls visit(index, worker) for each of them, on the calling thread.
    void for_each(const std::function<void(std::size_t, Worker&)>& visit);
    // Runs a copy of `task` on each worker's thread, soon.
    void post(const std::function<void(proxy::Context&)>& task);

    // Collects every worker's counters; `done` gets their sum on the control thread.
    void collect(std::function<void(const observe::WorkerCounters&)> done);

    // Collects every worker's heaviest keys of this limit, at most `most` of them; `done` gets the
    // merged list on the control thread.
    void collect_top(
        limits::LimitPtr limit,
        std::size_t most,
        std::function<void(const limits::HeavyHitters::Top&)> done);

    // Asks every worker for the last request with that X-Request-Id; `done` gets the latest of all
    // on the control thread.
    void find_recent(
        const std::string& request_id,
        std::function<void(const std::optional<proxy::RecentRequests::Record>&)> done);

    // Drains every worker for at most that time; `done` is called once on the control thread when
    // all have finished. A second call sets another time, and replaces `done`.
    void drain(Duration most, std::function<void()> done);

    // Ends all threads, then destroys the workers. Idempotent.
    void end() noexcept;

    // State that all workers share.
    [[nodiscard]] proxy::Shared& shared() noexcept { return shared_; }
    // Returns the number of limits that callers have brought.
    [[nodiscard]] std::size_t dynamic_limits() const { return permits_.dynamic.size(); }

  private:
    void worker_drained();

    net::asio::io_context& control_;
    proxy::Shared shared_;
    permits::Shared permits_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::function<void()> drained_; // empty: does not drain
    std::size_t draining_ = 0;      // workers that have not finished
};

} // namespace stint::runtime
