#include "runtime/watchdog.hpp"

#include <chrono>

namespace stint::runtime {

Watchdog::Watchdog(
    boost::asio::io_context& control, WorkerPool& pool, const ServiceManager& manager)
    : timer_{control}, pool_{pool}, manager_{manager} {}

void Watchdog::start() {
    if (manager_.watchdog() > Duration::zero())
        look();
}

void Watchdog::stop() {
    stopped_ = true;
    timer_.cancel();
}

// Four times within the watchdog's time: one answer may be late.
void Watchdog::look() {
    timer_.expires_after(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(manager_.watchdog() / 4));
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error && !stopped_)
            look();
    });
    if (draining_)
        return manager_.alive();
    if (waits_)
        return;
    pool_.await_posted([this] {
        waits_ = false;
        manager_.alive();
    });
    waits_ = true; // last: without memory for it the next look posts again
}

} // namespace stint::runtime
