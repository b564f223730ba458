#include "server/http2_times.hpp"

#include "net/clock.hpp"
#include "net/io.hpp"
#include "server/http1_connection.hpp"
#include "server/http2_connection.hpp"
#include "server/loop.hpp"

#include <chrono>
#include <utility>

namespace stint::server {
namespace {

// A client acknowledges SETTINGS within this time (RFC 9113 section 6.5.3).
constexpr Duration settings_timeout = std::chrono::seconds{5};

// Longest wait for the answer to the PING between the two GOAWAYs of a drain.
constexpr Duration drain_round_trip = std::chrono::seconds{1};

} // namespace

bool is_needed(Http1Connection& host) noexcept {
    Session* const session = host.session();
    return session != nullptr && (session->keeps_open() || session->may_keep_open());
}

void Http2Times::await_settings() noexcept {
    host_.loop().deadlines.arm(settings_time_, settings_timeout, net::read_coarse_clock());
}

void Http2Times::stop() noexcept {
    time_.disarm();
    idle_time_.disarm();
    drain_time_.disarm();
    settings_time_.disarm();
}

void Http2Times::on_request() noexcept {
    idle_ = false;
    idle_time_.disarm();
}

void Http2Times::begin_idle() noexcept {
    idle_ = true;
    host_.loop().deadlines.arm(idle_time_, host_.settings().idle_timeout, net::read_coarse_clock());
}

Http2Times::Wait Http2Times::present_wait(bool idle) const noexcept {
    if (output_.blocked())
        return Wait::send;
    if (session_.frames().unfinished(idle))
        return Wait::head;
    if (!idle)
        return Wait::nothing;
    const bool silent = session_.frames().part() == part_; // else the input is parked no more
    return wait_ == Wait::parked && silent ? Wait::parked : Wait::idle;
}

// True if the deadline that is armed is that of `wait`.
bool Http2Times::goes_on(Wait wait) const noexcept {
    return wait == wait_ && (wait != Wait::send || output_.sent() == sent_) &&
           (wait != Wait::head || session_.frames().part() == part_) &&
           (wait == Wait::nothing || wait == Wait::parked || time_.armed());
}

// True if the idle time has ended while a frame was coming, which was no request.
bool Http2Times::idle_is_over(Wait wait) const noexcept {
    return idle_ && !idle_time_.armed() && (wait == Wait::idle || wait == Wait::parked);
}

// True if a part arrives below min_head_rate. Checked whenever something has happened; head_timeout
// ends a silent client.
bool Http2Times::too_slow(Wait wait) const noexcept {
    return wait == Wait::head &&
           host_.settings().min_head_rate.missed_by(
               session_.frames().size(), net::read_coarse_clock() - part_begun_);
}

void Http2Times::give_up() noexcept {
    ++host_.loop().counters.slow_heads;
    wait_ = Wait::nothing;
    time_.disarm();
    end(Http2Error::enhance_your_calm);
}

// Ends the connection, within a turn.
void Http2Times::end(Http2Error error) noexcept {
    session_.terminate(error);
    http2_.send_now();
}

void Http2Times::arm(Duration length) noexcept {
    host_.loop().deadlines.arm(time_, length, net::read_coarse_clock());
}

void Http2Times::watch(bool idle) noexcept {
    if (idle && !idle_)
        begin_idle();
    if (drain_.announced() && !drain_time_.armed())
        host_.loop().deadlines.arm(drain_time_, drain_round_trip, net::read_coarse_clock());
    const Wait wait = present_wait(idle);
    if (idle_is_over(wait))
        return end(Http2Error::none);
    if (goes_on(wait))
        return too_slow(wait) ? give_up() : void();
    wait_ = wait;
    sent_ = output_.sent();
    part_ = session_.frames().part();
    const ConnectionSettings& now = host_.settings();
    switch (wait) {
    case Wait::nothing:
        return time_.disarm();
    case Wait::head:
        part_begun_ = net::read_coarse_clock();
        [[fallthrough]];
    case Wait::send:
        return arm(now.head_timeout);
    case Wait::idle:
    case Wait::parked:
        return arm(Sheddable::park_after);
    }
}

void Http2Times::on_time() noexcept {
    switch (std::exchange(wait_, Wait::nothing)) {
    case Wait::nothing:
    case Wait::parked:
        return;
    case Wait::idle:
        if (is_needed(host_)) {
            begin_idle();
            return watch(true);
        }
        host_.input().park();
        wait_ = Wait::parked;
        part_ = session_.frames().part();
        return;
    case Wait::head:
        session_.terminate(Http2Error::enhance_your_calm);
        return http2_.schedule();
    case Wait::send: // the client takes nothing
        return net::close(host_.io());
    }
}

// A frame that has begun may be a request, and may come to its end.
void Http2Times::on_idle_over() noexcept {
    if (is_needed(host_))
        return begin_idle();
    if (wait_ == Wait::head)
        return;
    session_.terminate(Http2Error::none);
    http2_.schedule();
}

void Http2Times::on_unanswered() noexcept {
    if (drain_.announced())
        drain_.stop(session_);
    http2_.schedule();
}

void Http2Times::on_unacknowledged() noexcept {
    session_.terminate(Http2Error::settings_timeout);
    http2_.schedule();
}

} // namespace stint::server
