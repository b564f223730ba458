#include "net/alarm.hpp"

#include "net/io.hpp"

#include <boost/asio/post.hpp>

#include <exception>

namespace stint::net {

void Alarm::ring() noexcept {
    try {
        asio::post(timer_.get_executor(), [self = shared_from_this()] { self->stop(); });
    } catch (const std::exception&) {
        // Out of memory: the sleeper wakes at its time.
    }
}

void Alarm::stop() noexcept {
    rung_ = true;
    try {
        timer_.cancel();
    } catch (const std::exception&) {
        // Out of memory: the sleeper wakes at its time.
    }
}

Task<> Alarm::sleep_until(SteadyTime at) {
    if (!rung_) {
        timer_.expires_at(at);
        co_await timer_.async_wait(as_result);
    }
    rung_ = false;
}

} // namespace stint::net
