// Protocol abuse on one HTTP/2 connection, measured: frames that a client has no reason to send so
// often.
#pragma once

#include "base/time.hpp"
#include "observe/http2_glitch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
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

// Bytes that a client has sent without use, measured in one bucket. PURE: the time is an argument.
class UselessBytes {
  public:
    // Notes bytes that have come. They are useless as long as use() does not say otherwise.
    void receive(std::size_t bytes) noexcept { level_ += bytes; }
    // Notes bytes of heads and bodies, in either direction. They make up for eight times as many
    // that came before.
    void use(std::size_t bytes) noexcept { level_ -= std::min<std::uint64_t>(level_, 8 * bytes); }
    // Notes bytes that may still come because they were on their way.
    void excuse(std::size_t bytes) noexcept { excused_ += bytes; }

    // True if more than 8 MB are in the bucket at `now`, which never goes backwards. It leaks 8 KB
    // each second: more than the frames of which Glitches lets so many pass.
    [[nodiscard]] bool full(SteadyTime now) noexcept {
        const std::uint64_t on_their_way = std::min(level_, excused_);
        level_ -= on_their_way;
        excused_ -= on_their_way;
        if (last_ == SteadyTime{})
            last_ = now;
        const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - last_);
        level_ -= std::min(level_, leak_each_ms * static_cast<std::uint64_t>(passed.count()));
        last_ += passed; // the rest of a millisecond counts later
        return level_ > most;
    }

  private:
    static constexpr std::uint64_t most = 8 * 1'048'576;
    static constexpr std::uint64_t leak_each_ms = 8;

    std::uint64_t level_ = 0;
    std::uint64_t excused_ = 0;
    SteadyTime last_{};
};

} // namespace stint::server
