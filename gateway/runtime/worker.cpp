#include "runtime/worker.hpp"

#include "net/clock.hpp"
#include "runtime/process.hpp"

#include <boost/asio/io_context.hpp>
#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>
#include <pthread.h>
#include <signal.h>
#include <utility>

namespace stint::runtime {
namespace {

using namespace std::chrono_literals;

// Turns off Asio's locks for sockets and timers, which only the worker's own thread uses. Posting
// from other threads stays locked. Saves about 1,000 instructions a request compared with
// concurrency hint 1.
constexpr int one_thread_per_object = BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO;

constexpr auto tick_length = 50ms;
constexpr unsigned ticks_per_sweep = 20;

} // namespace

Worker::Worker(proxy::Shared& shared, permits::Shared& permits, observe::AccessLog::Channel log)
    : loop_{std::make_unique<net::asio::io_context>(one_thread_per_object)} {
    context_ = std::make_unique<proxy::Context>(loop_->get_executor(), shared, std::move(log));
    proxied_ = std::make_unique<proxy::Service>(*context_);
    permits_ = std::make_unique<permits::Service>(*context_, permits);
    dispatcher_ = std::make_unique<ConnectionDispatcher>(*context_, *proxied_, *permits_);
    ticker_ = std::make_unique<Timer>(*loop_);
}

void Worker::stop() noexcept {
    loop_->stop();
    if (thread_.joinable())
        thread_.join();
}

Worker::~Worker() {
    stop();
    // The loop ends while the context still exists, so that suspended coroutines can return their
    // permits and connection slots to it.
    for (const auto& [name, listener] : listeners_)
        listener->close();
    context_->abort_connections();
    permits_->detach();
    loop_->restart();
    loop_->poll(); // may run a tick that was due, so ticker_ must still exist
    ticker_.reset();
    listeners_.clear();
    context_->origins.pools().close_idle();
    loop_.reset();
}

void Worker::join(std::shared_ptr<ConnectionDispatchers> dispatchers) {
    dispatcher_->join(std::move(dispatchers));
}

void Worker::start(std::optional<int> core) {
    thread_ = std::thread{[this] {
        // Blocks all signals, which the control thread handles.
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        tick();
        loop_->run();
    }};
    pthread_setname_np(thread_.native_handle(), "stint-worker");
    if (core)
        pin(thread_, *core);
}

void Worker::post(std::function<void(proxy::Context&)> task) {
    net::asio::post(*loop_, [this, task = std::move(task)] { task(*context_); });
}

void Worker::adopt(WorkerUpdate adoption) {
    net::asio::post(*loop_, [this, adoption = std::move(adoption)]() mutable { take(adoption); });
}

void Worker::adopt_terms(routing::SnapshotPtr snapshot, const SlotCounts& slots) {
    net::asio::post(*loop_, [this, snapshot = std::move(snapshot), slots]() mutable {
        fit(slots);
        context_->adopt_terms(std::move(snapshot));
    });
}

void Worker::fit(const SlotCounts& slots) {
    context_->counters.fit(slots.routes, slots.refusals, slots.upstreams, slots.waits);
}

void Worker::take(WorkerUpdate& adoption) {
    fit(adoption.slots);
    context_->adopt(std::move(adoption.snapshot));
    permits_->adopt();
    std::erase_if(listeners_, [&](const auto& listener) {
        const bool gone = !adoption.listeners.contains(listener.first);
        if (gone)
            listener.second->close();
        return gone;
    });
    for (OpenedListener& opened : adoption.opened) {
        try {
            auto listener = std::make_shared<Listener>(
                *context_, *dispatcher_, opened.address, std::move(opened.socket),
                adoption.listeners.at(opened.name));
            listener->start();
            listeners_.emplace(opened.name, std::move(listener));
        } catch (const std::exception& failure) {
            spdlog::error("a worker cannot listen on {}: {}", opened.name, failure.what());
        }
    }
    for (const auto& [name, listener] : listeners_)
        listener->set_role(adoption.listeners.at(name));
}

void Worker::go_on_with(server::HandedConnection handed, std::function<void()> done) {
    // std::function copies what it holds.
    auto shared = std::make_shared<server::HandedConnection>(std::move(handed));
    net::asio::post(*loop_, [this, shared = std::move(shared), done = std::move(done)] {
        dispatcher_->go_on_with(std::move(*shared));
        done();
    });
}

void Worker::pause(std::shared_ptr<WorkersPause> pause) {
    net::asio::post(*loop_, [this, pause = std::move(pause)] {
        if (const WorkersPause::Orders orders = pause->wait(); orders.drained)
            hand_over(orders);
    });
}

// Reports the end after three turns of the loop: requests that were given back need them.
void Worker::hand_over(const WorkersPause::Orders& orders) {
    drained_ = orders.drained;
    drain_until_ = net::read_steady_clock() + orders.drain;
    context_->draining = true;
    dispatcher_->close();
    close_listeners(); // the successor accepts the connections that wait
    context_->drain_connections(false);
    const auto after = [this](std::function<void()> then) {
        net::asio::post(*loop_, std::move(then));
    };
    after([after, told = orders.handed_over] {
        after([after, told] { after([after, told] { after(told); }); });
    });
}

std::vector<Descriptor> Worker::copy_listening_sockets() {
    std::vector<Descriptor> copies;
    for (const auto& [name, listener] : listeners_)
        copies.push_back(listener->copy_socket());
    return copies;
}

void Worker::close_listeners() noexcept {
    for (const auto& [name, listener] : listeners_)
        listener->close();
    listeners_.clear();
}

void Worker::drain(Duration most, std::function<void()> done) {
    net::asio::post(*loop_, [this, most, done = std::move(done)]() mutable {
        drained_ = std::move(done);
        drain_until_ = net::read_steady_clock() + most;
        context_->draining = true;
        dispatcher_->close();
        for (const auto& [name, listener] : listeners_)
            listener->take_waiting(); // for these clients the connection is already open
        close_listeners();
        look_whether_drained();
    });
}

void Worker::look_whether_drained() {
    if (!drained_)
        return;
    const bool over = net::read_steady_clock() >= drain_until_;
    context_->drain_connections(over);
    if (context_->worker_load.load(std::memory_order_relaxed) == 0)
        std::exchange(drained_, nullptr)();
}

void Worker::tick() {
    const SteadyTime now = net::read_steady_clock();
    context_->tick(now);
    if (++ticks_ % ticks_per_sweep == 0)
        context_->sweep(now);
    look_whether_drained();
    ticker_->expires_after(tick_length);
    ticker_->async_wait([this](const ErrorCode& error) {
        if (!error)
            tick();
    });
}

void start_workers(const std::vector<std::unique_ptr<Worker>>& workers, bool pinned) {
    const auto dispatchers = std::make_shared<ConnectionDispatchers>();
    for (const auto& worker : workers)
        worker->join(dispatchers);
    const std::vector<int> cores = usable_cores();
    for (std::size_t i = 0; i < workers.size(); ++i)
        workers[i]->start(pinned ? std::optional{cores[i % cores.size()]} : std::nullopt);
}

} // namespace stint::runtime
