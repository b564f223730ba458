#include "runtime/watchdog.hpp"

#include <chrono>
#include <utility>

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
    if (draining_)
        manager_.alive();
    else if (!std::exchange(waits_, true))
        pool_.await_posted([this] {
            waits_ = false;
            manager_.alive();
        });
    timer_.expires_after(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(manager_.watchdog() / 4));
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error && !stopped_)
            look();
    });
}

} // namespace stint::runtime
