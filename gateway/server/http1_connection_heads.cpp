// Heads of an HTTP/1 connection: their timeouts and bounds, and the answers to heads that exceed
// them.
#include "http/request_line.hpp"
#include "net/clock.hpp"
#include "server/http1_connection.hpp"

#include <algorithm>

namespace stint::server {

void Http1Connection::await_next_head() {
    const ConnectionSettings& now = settings();
    ReceivedBytes& received = input_.received();
    if (received.empty() && !input_.reads()) {
        received.clear();
        if (received.block_size() != now.head_blocks->block_size())
            received.release(); // max_head was changed
    }
    if (received.empty())
        arm(Phase::idle, std::min(Sheddable::park_after, now.idle_timeout));
    else
        arm(Phase::head, now.head_timeout);
}

net::Task<bool> Http1Connection::receive_more() {
    if (!read_on())
        co_return false;
    co_await input_.wait();
    co_return true;
}

// Starts a read unless one is pending. Returns false if no more of a head can be received.
bool Http1Connection::read_on() {
    if (input_.error() || timed_out_)
        return false;
    ReceivedBytes& received = input_.received();
    if (!received.empty() && head_too_slow())
        return false;
    const bool timed = phase_ == Phase::head || phase_ == Phase::first; // since the head began
    if (!timed && !received.empty())
        arm(Phase::head, settings().head_timeout);
    if (input_.reads())
        return true;
    received.make_room(received.room().empty());
    if (received.has_block() &&
        (received.room().empty() || received.size() >= settings().max_head || is_target_too_long()))
        return false;
    return input_.begin_reading(*settings().head_blocks);
}

// True if a partial head arrives below min_head_rate. Checked whenever more of it comes;
// head_timeout ends a silent client.
bool Http1Connection::head_too_slow() noexcept {
    const SteadyTime now = net::read_coarse_clock();
    if (head_begun_ == SteadyTime{})
        head_begun_ = now;
    if (!settings().min_head_rate.missed_by(input_.received().size(), now - head_begun_))
        return false;
    ++loop_.counters.slow_heads;
    return timed_out_ = true;
}

// True if the part of the target that has arrived is too long already.
bool Http1Connection::is_target_too_long() noexcept {
    const std::span<char> bytes = input_.received().bytes();
    return settings().max_target != ConnectionSettings::unlimited &&
           http::target_too_long({bytes.data(), bytes.size()}, settings().max_target);
}

Step Http1Connection::reject_head() {
    stream_->begin_unreadable();
    if (timed_out_)
        return handler_->on_bad_request(408, "the request's head did not arrive in time");
    if (input_.error())
        return handler_->on_bad_request(400, "the request's head was cut short");
    const std::span<char> bytes = input_.received().bytes();
    const std::string_view head{bytes.data(), std::min(bytes.size(), settings().max_head)};
    const bool in_target = is_target_too_long() || head.find('\n') == std::string_view::npos;
    if (in_target && settings().max_target != ConnectionSettings::unlimited)
        return handler_->on_bad_request(414, settings().target_too_long);
    return handler_->on_bad_request(431, settings().head_too_large);
}

} // namespace stint::server
