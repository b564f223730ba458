// Protocol abuse on one HTTP/2 connection, measured: frames that a client has no reason to send so
// often.
#pragma once

#include "base/time.hpp"
#include "observe/http2_glitch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace stint::server {

// One bucket for all kinds. Ordinary clients make a glitch now and then: the bucket leaks a tenth
// of its size each second. PURE: the time is an argument.
class Glitches {
  public:
    enum class Verdict : std::uint8_t {
        fine,
        go_away, // three quarters full: no further streams
        close    // full
    };

    // most: the glitches that close a connection, at least 1.
    explicit Glitches(std::uint32_t most) noexcept : most_{static_cast<double>(most)} {}

    // Counts one glitch at `now`, which never goes backwards.
    [[nodiscard]] Verdict add(SteadyTime now) noexcept {
        leak(now);
        ++level_;
        if (level_ >= most_)
            return Verdict::close;
        return level_ >= most_ * 0.75 ? Verdict::go_away : Verdict::fine;
    }

  private:
    void leak(SteadyTime now) noexcept {
        if (last_ == SteadyTime{})
            last_ = now;
        const std::chrono::duration<double> passed = now - last_;
        level_ = std::max(0.0, level_ - passed.count() * most_ / 10);
        last_ = now;
    }

    double most_;
    double level_ = 0;
    SteadyTime last_{};
};

} // namespace stint::server
