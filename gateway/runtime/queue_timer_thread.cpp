#include "runtime/queue_timer_thread.hpp"

#include "net/clock.hpp"

#include <algorithm>
#include <pthread.h>
#include <signal.h>
#include <utility>

namespace stint::runtime {

QueueTimerThread::QueueTimerThread(limits::Registry& registry, WallTime started)
    : locks_{registry, *this, started}, thread_{[this] { run(); }} {
    pthread_setname_np(thread_.native_handle(), "stint-openings");
}

QueueTimerThread::~QueueTimerThread() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    rung_.notify_one();
    thread_.join();
}

void QueueTimerThread::schedule(SteadyTime at) noexcept {
    {
        const std::lock_guard lock{mutex_};
        if (at >= next_)
            return;
        next_ = at;
    }
    rung_.notify_one();
}

void QueueTimerThread::hold() {
    std::unique_lock lock{mutex_};
    held_ = true;
    rung_.wait(lock, [this] { return opening_ == 0; });
}

void QueueTimerThread::go_on() {
    {
        const std::lock_guard lock{mutex_};
        held_ = false;
        next_ = SteadyTime::min(); // whatever was due meanwhile
    }
    rung_.notify_all();
}

void QueueTimerThread::run_now() noexcept {
    {
        const std::lock_guard lock{mutex_};
        if (held_) // go_on() opens all queues
            return;
        ++opening_;
    }
    schedule(queue_.open(net::read_clocks()));
    end_opening();
}

void QueueTimerThread::end_opening() noexcept {
    const std::lock_guard lock{mutex_};
    if (--opening_ == 0 && held_)
        rung_.notify_all();
}

void QueueTimerThread::run() {
    sigset_t all; // signals are handled by the control thread
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock lock{mutex_};
    while (!stopping_) {
        if (held_ || next_ == SteadyTime::max()) {
            rung_.wait(lock);
        } else if (next_ > net::read_steady_clock()) {
            rung_.wait_until(lock, next_);
        } else {
            next_ = SteadyTime::max(); // schedule() may set it again meanwhile
            ++opening_;
            lock.unlock();
            const Now now = net::read_clocks();
            const SteadyTime next_end = locks_.expire(now);
            const SteadyTime next = std::min(next_end, queue_.open(now));
            end_opening();
            lock.lock();
            next_ = std::min(next_, next);
        }
    }
}

} // namespace stint::runtime
