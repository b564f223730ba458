#include "runtime/worker_pool.hpp"

#include "net/clock.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace stint::runtime {
namespace {

// Returns a copy of this worker's record of the limit's heaviest keys. Returns nullptr if the
// worker's snapshot does not have the limit, or the limit has no key.
std::shared_ptr<const limits::HeavyHitters>
heavy_hitters_in(const proxy::Context& context, const limits::LimitPtr& limit) {
    const auto& limits = context.active->snapshot->limits;
    for (std::size_t i = 0; i < limits.size(); ++i)
        if (limits[i]->limit == limit && limit->keyed())
            return std::make_shared<const limits::HeavyHitters>(
                context.active->heavy_hitters_of(static_cast<std::uint32_t>(i)));
    return nullptr;
}

} // namespace

WorkerPool::WorkerPool(
    net::asio::io_context& control, limits::Registry& registry, QueueTimerThread& openings)
    : control_{control}, shared_{registry.hasher(), openings.queue()}, permits_{
                                                                           registry,
                                                                           openings.locks()} {}

WorkerPool::~WorkerPool() {
    end();
}

void WorkerPool::make(std::size_t count, observe::AccessLog& log) {
    for (std::size_t i = 0; i < count; ++i)
        workers_.push_back(std::make_unique<Worker>(shared_, permits_, log.open_channel()));
}

void WorkerPool::start(bool pinned) {
    start_workers(workers_, pinned);
}

void WorkerPool::for_each(const std::function<void(std::size_t, Worker&)>& visit) {
    for (std::size_t i = 0; i < workers_.size(); ++i)
        visit(i, *workers_[i]);
}

void WorkerPool::post(const std::function<void(proxy::Context&)>& task) {
    for (const auto& worker : workers_)
        worker->post(task);
}

void WorkerPool::await_posted(std::function<void()> done) {
    const auto missing = std::make_shared<std::size_t>(workers_.size());
    for (const auto& worker : workers_)
        worker->post([this, missing, done](proxy::Context&) {
            net::asio::post(control_, [missing, done] {
                if (--*missing == 0)
                    done();
            });
        });
}

void WorkerPool::collect(std::function<void(observe::WorkerCounters)> done) {
    struct Sum {
        observe::WorkerCounters counters;
        std::size_t missing;
        std::function<void(observe::WorkerCounters)> done;
    };
    auto sum = std::make_shared<Sum>(Sum{{}, workers_.size(), std::move(done)});
    for (const auto& worker : workers_)
        worker->post([this, sum](proxy::Context& context) {
            const auto& upstreams = *context.active->snapshot->upstreams;
            for (std::size_t i = 0; i < upstreams.size(); ++i) {
                auto& counters = context.counters.upstreams[upstreams[i].metric];
                counters.idle = context.active->origins[i]->cluster().idle();
                counters.in_flight = context.active->origins[i]->cluster().own_in_flight();
            }
            net::asio::post(control_, [sum, counters = context.counters] {
                sum->counters += counters;
                if (--sum->missing == 0)
                    sum->done(std::move(sum->counters));
            });
        });
}

void WorkerPool::collect_top(
    limits::LimitPtr limit,
    std::size_t most,
    limits::HeavyHitters::By by,
    std::function<void(const limits::HeavyHitters::Top&)> done) {
    struct Parts {
        std::vector<std::shared_ptr<const limits::HeavyHitters>> arrived;
        std::size_t missing;
        std::function<void(const limits::HeavyHitters::Top&)> done;
    };
    auto parts = std::make_shared<Parts>(Parts{{}, workers_.size(), std::move(done)});
    for (const auto& worker : workers_)
        worker->post([this, parts, limit, most, by](proxy::Context& context) {
            net::asio::post(control_, [parts, most, by, part = heavy_hitters_in(context, limit)] {
                if (part != nullptr)
                    parts->arrived.push_back(part);
                if (--parts->missing > 0)
                    return;
                std::vector<const limits::HeavyHitters*> all;
                for (const auto& each : parts->arrived)
                    all.push_back(each.get());
                parts->done(limits::HeavyHitters::merged(all, most, by, net::read_steady_clock()));
            });
        });
}

void WorkerPool::find_recent(
    const std::string& request_id,
    std::function<void(const std::optional<proxy::RecentRequests::Record>&)> done) {
    using Found = std::optional<proxy::RecentRequests::Record>;
    struct Latest {
        Found record;
        std::size_t missing;
        std::function<void(const Found&)> done;
    };
    auto latest = std::make_shared<Latest>(Latest{{}, workers_.size(), std::move(done)});
    for (const auto& worker : workers_)
        worker->post([this, latest, request_id](proxy::Context& context) {
            net::asio::post(control_, [latest, found = context.recent.find(request_id)] {
                if (found && (!latest->record || latest->record->at < found->at))
                    latest->record = found;
                if (--latest->missing == 0)
                    latest->done(latest->record);
            });
        });
}

std::shared_ptr<WorkersPause> WorkerPool::pause() {
    auto pause = std::make_shared<WorkersPause>();
    for (const auto& worker : workers_)
        worker->pause(pause);
    return pause;
}

std::vector<Descriptor> WorkerPool::copy_listening_sockets() {
    std::vector<Descriptor> copies;
    for (const auto& worker : workers_)
        for (Descriptor& each : worker->copy_listening_sockets())
            copies.push_back(std::move(each));
    return copies;
}

void WorkerPool::hand_over(
    WorkersPause& pause,
    server::Successor& successor,
    Duration most,
    std::function<void()> given,
    std::function<void()> done) {
    draining_ = workers_.size();
    drained_ = std::move(done);
    const auto missing = std::make_shared<std::size_t>(workers_.size());
    shared_.successor = &successor;
    pause.end(
        {.drain = most,
         .handed_over =
             [this, missing, given = std::move(given)] {
                 net::asio::post(control_, [missing, given] {
                     if (--*missing == 0)
                         given();
                 });
             },
         .drained = [this] { net::asio::post(control_, [this] { worker_drained(); }); }});
}

void WorkerPool::go_on_with(
    std::size_t worker, server::HandedConnection handed, std::function<void()> done) {
    workers_[worker % workers_.size()]->go_on_with(
        std::move(handed), [this, done = std::move(done)] { net::asio::post(control_, done); });
}

void WorkerPool::drain(Duration most, std::function<void()> done) {
    if (!drained_)
        draining_ = workers_.size();
    drained_ = std::move(done);
    for (const auto& worker : workers_)
        worker->drain(most, [this] { net::asio::post(control_, [this] { worker_drained(); }); });
}

void WorkerPool::worker_drained() {
    if (draining_ > 0 && --draining_ == 0)
        drained_();
}

// Ends all threads before destroying any worker, because a running worker may access the others.
void WorkerPool::end() noexcept {
    for (const auto& worker : workers_)
        worker->stop();
    workers_.clear();
}

} // namespace stint::runtime
