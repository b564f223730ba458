// A lingering close (RFC 9112 section 9.6): a peer that was answered before it had sent everything
// may go on sending for a while, and its bytes are dropped. To close with bytes unread would reset
// the connection, and the reset could destroy the answer on its way.
#pragma once

#include "base/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace stint::net {

// Begins once the answer was sent and the sending side was shut down. Does no I/O. The reader calls
// take() after each read, and closes the connection when nothing has come for `silence`.
class Linger {
  public:
    static constexpr Duration silence = std::chrono::seconds{2};
    // Longest time in all: `longest` for a connection that was admitted; `brief` for one that was
    // rejected, and for any while the gateway drains.
    static constexpr Duration longest = std::chrono::seconds{30};
    static constexpr Duration brief = std::chrono::seconds{1};
    // The most bytes read in each interval. Further bytes wait at the peer.
    static constexpr std::size_t most_at_once = 1024 * 1024;
    static constexpr Duration interval = std::chrono::milliseconds{100};

    enum class Next : std::uint8_t {
        read,
        pause, // stop reading for an interval
        close
    };

    explicit Linger(SteadyTime now) noexcept : begun_{now}, interval_begun_{now} {}

    // Decides what to do after `size` more bytes. most: longest time in all.
    [[nodiscard]] Next take(std::size_t size, SteadyTime now, Duration most = longest) noexcept {
        if (now - begun_ >= most)
            return Next::close;
        if (now - interval_begun_ >= interval) {
            interval_begun_ = now;
            taken_ = 0;
        }
        taken_ += size;
        if (taken_ < most_at_once)
            return Next::read;
        taken_ = 0;
        return Next::pause;
    }

  private:
    SteadyTime begun_;
    SteadyTime interval_begun_;
    std::size_t taken_ = 0;
};

} // namespace stint::net
