#include "redis/primary_watch.hpp"

#include <utility>

namespace stint::redis {

PrimaryWatch::PrimaryWatch(const net::Executor& executor, const Times& times, Watcher& watcher)
    : times_{times}, watcher_{watcher}, timer_{executor} {
    ask_again_later();
}

PrimaryWatch::~PrimaryWatch() = default;

void PrimaryWatch::ask_again_later() {
    timer_.expires_after(times_.interval);
    timer_.async_wait([watch = std::weak_ptr{self_}](const ErrorCode& error) {
        const auto live = watch.lock();
        if (error || !live)
            return;
        (*live)->ask_all(false);
        (*live)->ask_again_later();
    });
}

bool PrimaryWatch::confirms(SteadyTime now) const {
    return followed_ && primary(now) == followed_;
}

void PrimaryWatch::answered() {
    if (const auto waiting = std::exchange(waiting_, nullptr))
        waiting();
    watcher_.on_voters();
}

} // namespace stint::redis
