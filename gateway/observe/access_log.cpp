#include "observe/access_log.hpp"

#include "observe/doorbell.hpp"
#include "observe/line_buffer.hpp"
#include "observe/log_writer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <future>
#include <mutex>
#include <optional>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace stint::observe {

namespace {

constexpr auto gather_interval = std::chrono::milliseconds{50};
constexpr auto blocked_interval = std::chrono::seconds{1}; // between checks of a full target
constexpr auto drain_time = std::chrono::milliseconds{800};
constexpr auto join_time = std::chrono::seconds{1};

SteadyTime now() noexcept {
    return std::chrono::steady_clock::now();
}

// Blocks all signals in the current thread while it exists, so that the writer thread inherits the
// mask. Signals are for the control thread. With SIGPIPE and SIGXFSZ blocked, a failed write()
// returns an error.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_{};
};

// Requests of the control thread to the writer thread, which applies them before its next write.
struct Orders {
    std::optional<AccessLog::Target> target;
    bool reopen = false;
    bool stop = false;

    [[nodiscard]] bool any() const noexcept { return target || reopen || stop; }
};

// State shared by workers, writer thread and control thread. Each holds a reference, so that a
// writer thread that hangs in a dead file system may outlive the AccessLog.
struct Shared {
    LogCounts counts;
    std::atomic<bool> enabled{false};
    std::atomic<bool> writer_sleeps{false}; // set before the writer's last check for lines
    Doorbell doorbell;

    std::mutex mutex; // guards the members below
    Orders orders;
    std::vector<std::shared_ptr<LineBuffer>> buffers;

    void wake_sleeper() noexcept {
        if (writer_sleeps.load() && writer_sleeps.exchange(false))
            doorbell.ring();
    }
};

// The code of the writer thread.
class Writer {
  public:
    explicit Writer(std::shared_ptr<Shared> shared) : shared_{std::move(shared)} {}
    void run();

  private:
    enum class Turn : std::uint8_t { idle, wrote, blocked };
    [[nodiscard]] Orders take_orders();
    void follow(Orders orders);
    [[nodiscard]] Turn turn();
    void wait(Turn last);
    void poll_for(bool writable, std::optional<Duration> time) const;
    [[nodiscard]] bool nothing_waits();
    void finish();

    std::shared_ptr<Shared> shared_;
    LogWriter writer_{shared_->counts};
    std::vector<std::shared_ptr<LineBuffer>> buffers_; // copy of Shared::buffers
    std::size_t next_ = 0; // index in buffers_ at which the next turn continues
};

void Writer::run() {
    for (;;) {
        Orders orders = take_orders();
        const bool stop = orders.stop;
        follow(std::move(orders));
        if (stop)
            return finish();
        writer_.tick(now());
        wait(turn());
    }
}

Orders Writer::take_orders() {
    const std::lock_guard lock{shared_->mutex};
    // A closed channel adds no more lines. Its buffer is removed once it is empty.
    std::erase_if(shared_->buffers, [this](const std::shared_ptr<LineBuffer>& buffer) {
        const auto ours = std::count(buffers_.begin(), buffers_.end(), buffer);
        return buffer.use_count() == 1 + ours && buffer->empty();
    });
    buffers_ = shared_->buffers;
    return std::exchange(shared_->orders, {});
}

// Applies requests of the control thread. Lines that were added before still go to the former
// target, if it accepts them.
void Writer::follow(Orders orders) {
    if (!orders.any())
        return;
    if (writer_.is_open())
        (void)turn();
    if (orders.target)
        writer_.set_target(std::move(*orders.target), now());
    if (orders.reopen)
        writer_.reopen(now());
}

Writer::Turn Writer::turn() {
    Turn result = Turn::idle;
    if (!writer_.flush(now()))
        return Turn::blocked;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        next_ = (next_ + 1) % buffers_.size();
        buffers_[next_]->swap(writer_.lines());
        if (writer_.lines().empty())
            continue;
        result = Turn::wrote;
        if (!writer_.flush(now()))
            return Turn::blocked;
    }
    return result;
}

void Writer::wait(Turn last) {
    if (last == Turn::blocked)
        return poll_for(true, blocked_interval);
    if (last == Turn::wrote)
        return poll_for(false, gather_interval);
    // A worker that adds a line after nothing_waits() has checked its buffer sees writer_sleeps and
    // rings, because the buffer's lock orders both.
    shared_->writer_sleeps = true;
    if (nothing_waits()) {
        std::optional<Duration> time;
        if (const auto tick = writer_.next_tick())
            time = std::max(*tick - now(), Duration::zero());
        poll_for(false, time);
    }
    shared_->writer_sleeps = false;
}

void Writer::poll_for(bool writable, std::optional<Duration> time) const {
    std::array<pollfd, 2> set{{
        {shared_->doorbell.descriptor(), POLLIN, 0},
        {writable ? writer_.descriptor() : -1, POLLOUT, 0},
    }};
    (void)::poll(set.data(), set.size(), time ? static_cast<int>(ceil_ms(*time)) : -1);
    shared_->doorbell.silence();
}

bool Writer::nothing_waits() {
    const std::lock_guard lock{shared_->mutex};
    return !shared_->orders.any() &&
           std::all_of(shared_->buffers.begin(), shared_->buffers.end(), [](const auto& buffer) {
               return buffer->empty();
           });
}

void Writer::finish() {
    const SteadyTime deadline = now() + drain_time;
    while (turn() == Turn::blocked) {
        const Duration left = deadline - now();
        if (left <= Duration::zero())
            break;
        poll_for(true, left);
    }
    writer_.close();
    (void)turn(); // counts the remaining lines as dropped
}

} // namespace

struct AccessLog::Channel::Impl {
    std::shared_ptr<Shared> shared;
    std::shared_ptr<LineBuffer> buffer = std::make_shared<LineBuffer>();
    std::string line; // scratch buffer of the worker, reused for each line
};

AccessLog::Channel::Channel(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}

bool AccessLog::Channel::enabled() const noexcept {
    return impl_->shared->enabled.load(std::memory_order_relaxed);
}

void AccessLog::Channel::write(const AccessRecord& record) {
    if (!enabled())
        return;
    impl_->line.clear();
    format(impl_->line, record);
    Shared& shared = *impl_->shared;
    switch (impl_->buffer->add(impl_->line)) {
    case LineBuffer::Added::no_room:
        shared.counts.dropped.fetch_add(1, std::memory_order_relaxed);
        break;
    case LineBuffer::Added::yes:
        shared.wake_sleeper();
        break;
    case LineBuffer::Added::urgent:
        shared.doorbell.ring();
        break;
    }
}

struct AccessLog::Impl {
    std::shared_ptr<Shared> shared = std::make_shared<Shared>();
    std::future<void> finished;
    std::thread thread;

    template <class Change>
    void order(Change change) {
        {
            const std::lock_guard lock{shared->mutex};
            change(shared->orders);
        }
        shared->doorbell.ring();
    }
};

AccessLog::AccessLog(Target target) : impl_{std::make_unique<Impl>()} {
    set_target(std::move(target));
    std::promise<void> done;
    impl_->finished = done.get_future();
    const SignalsBlocked inherited_by_the_thread;
    impl_->thread = std::thread{[shared = impl_->shared, done = std::move(done)]() mutable {
        Writer{std::move(shared)}.run();
        done.set_value();
    }};
}

AccessLog::~AccessLog() {
    impl_->order([](Orders& orders) { orders.stop = true; });
    // A write to a dead network file system may never return. In that case the thread is detached;
    // it holds references to all state that it uses.
    if (impl_->finished.wait_for(join_time) == std::future_status::ready)
        impl_->thread.join();
    else
        impl_->thread.detach();
}

AccessLog::Channel AccessLog::open_channel() {
    auto channel = std::make_shared<Channel::Impl>();
    channel->shared = impl_->shared;
    const std::lock_guard lock{impl_->shared->mutex};
    impl_->shared->buffers.push_back(channel->buffer);
    return Channel{std::move(channel)};
}

void AccessLog::reopen() {
    impl_->order([](Orders& orders) { orders.reopen = true; });
}

void AccessLog::set_target(Target target) {
    impl_->shared->enabled = target.kind != Target::Kind::off;
    impl_->order([&target](Orders& orders) { orders.target = std::move(target); });
}

std::uint64_t AccessLog::written() const noexcept {
    return impl_->shared->counts.written.load(std::memory_order_relaxed);
}

std::uint64_t AccessLog::dropped() const noexcept {
    return impl_->shared->counts.dropped.load(std::memory_order_relaxed);
}

} // namespace stint::observe
