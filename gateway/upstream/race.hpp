// Connects to whichever of several addresses of one endpoint answers first (Happy Eyeballs, RFC
// 8305).
#pragma once

#include "base/error.hpp"
#include "net/event.hpp"
#include "net/types.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace stint::upstream {

// Returns the addresses reordered so that the address families (IPv4, IPv6) alternate, beginning
// with the family of the first address (section 4).
[[nodiscard]] std::vector<net::Endpoint> interleave(std::vector<net::Endpoint> addresses);

// Not thread-safe. Must not be destroyed before run() has ended.
class Race {
  public:
    // Time for which an address may be silent before the next one is tried beside it (section 5).
    static constexpr std::chrono::milliseconds head_start{250};

    // addresses: at least one.
    Race(const net::Executor& executor, std::vector<net::Endpoint> addresses);

    // Runs until one address is connected, all have failed (returns the last error), or give_up()
    // is called (returns operation_aborted). No operation is pending afterwards.
    [[nodiscard]] net::Task<ErrorCode> run();
    // Returns the connected socket. Call once, after run() has succeeded.
    [[nodiscard]] net::Socket take_winner() { return std::move(attempts_[*winner_]); }

    // Closes all sockets, and lets run() end.
    void give_up() noexcept;

    // Keeps a pointer to the race in `place` while this object lives, so that give_up() can be
    // called.
    class Known {
      public:
        Known(Race*& place, Race& race) : place_{place} { place_ = &race; }
        ~Known() { place_ = nullptr; }
        Known(const Known&) = delete;
        Known& operator=(const Known&) = delete;

      private:
        Race*& place_;
    };

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    void begin_next();
    void on_end(std::size_t attempt, const ErrorCode& error);
    void await_head_start();
    void finish() noexcept;
    void one_less();

    const std::vector<net::Endpoint> addresses_;
    std::deque<net::Socket> attempts_; // one for each address tried; never moved
    Timer timer_;
    net::Event ended_;
    ErrorCode error_;
    std::optional<std::size_t> winner_;
    std::size_t pending_ = 0; // handlers that refer to this object
    bool over_ = false;
};

} // namespace stint::upstream
