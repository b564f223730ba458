// The timeouts of one HTTP/2 connection.
#pragma once

#include "base/time.hpp"
#include "net/deadlines.hpp"
#include "server/http2_drain.hpp"
#include "server/http2_output.hpp"
#include "server/http2_session.hpp"

#include <cstdint>

namespace stint::server {

class Http1Connection;
class Http2Connection;

// At most one wait of a connection is bounded at a time, beside those for its SETTINGS and for the
// PING of its drain, and its idle time. Used on the thread of its connection, and destroyed before
// it.
class Http2Times {
  public:
    // All arguments outlive this object.
    Http2Times(
        Http2Connection& http2,
        Http1Connection& host,
        Http2Session& session,
        const Http2Output& output,
        Http2Drain& drain) noexcept
        : http2_{http2}, host_{host}, session_{session}, output_{output}, drain_{drain} {}

    // Begins to wait until the client acknowledges the gateway's SETTINGS.
    void await_settings() noexcept;
    void settings_acknowledged() noexcept { settings_time_.disarm(); }
    // A request has begun: the idle time begins anew with its end. Nothing else that a client sends
    // does that.
    void on_request() noexcept;
    // Arms the deadline of the present wait. idle: no stream is open.
    void watch(bool idle) noexcept;
    void stop() noexcept;

  private:
    // head: the client has begun a head, or another frame, or its preface.
    enum class Wait : std::uint8_t { nothing, head, send, idle, parked };

    [[nodiscard]] Wait present_wait(bool idle) const noexcept;
    [[nodiscard]] bool goes_on(Wait wait) const noexcept;
    [[nodiscard]] bool too_slow(Wait wait) const noexcept;
    [[nodiscard]] bool idle_is_over(Wait wait) const noexcept;
    void begin_idle() noexcept;
    void give_up() noexcept;
    void end(Http2Error error) noexcept;
    void arm(Duration length) noexcept;
    void on_time() noexcept;
    void on_idle_over() noexcept;
    void on_unanswered() noexcept;
    void on_unacknowledged() noexcept;

    Http2Connection& http2_;
    Http1Connection& host_;
    Http2Session& session_;
    const Http2Output& output_;
    Http2Drain& drain_;
    net::DeadlineOf<Http2Times, &Http2Times::on_time> time_{*this};
    net::DeadlineOf<Http2Times, &Http2Times::on_idle_over> idle_time_{*this};
    net::DeadlineOf<Http2Times, &Http2Times::on_unanswered> drain_time_{*this};
    net::DeadlineOf<Http2Times, &Http2Times::on_unacknowledged> settings_time_{*this};
    bool idle_ = false;         // idle_time_ was armed since the last request
    Wait wait_ = Wait::nothing; // the wait that time_ ends; none if the input is parked
    std::uint64_t sent_ = 0;    // bytes sent when Wait::send was armed
    std::uint64_t part_ = 0;    // the last part that had begun when wait_ was set
    SteadyTime part_begun_{};   // when it was armed
};

// True while the connection's session needs it, however silent it is.
[[nodiscard]] bool is_needed(Http1Connection& host) noexcept;

} // namespace stint::server
