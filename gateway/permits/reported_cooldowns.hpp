// Pauses of limits, begun by feedback: a client reports that an upstream answered its request with
// 429 or 503.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace stint::permits {

// One for all workers. Until the first report, look() costs one load. Threads: any.
class ReportedCooldowns {
  public:
    static constexpr std::size_t most = 10'000; // paused counters; further ones are not paused
    static constexpr Duration longest = std::chrono::minutes{10};

    struct CounterId {
        std::uint64_t limit = 0; // limits::Limit::ordinal()
        Hash128 key{};

        friend auto operator<=>(const CounterId&, const CounterId&) = default;
    };
    struct Pause {
        int status = 0; // the status that the upstream answered with
        Duration left{};
    };

    // Pauses the counter from `now` for `length`, at most `longest`. A pause that ends later than
    // that is kept. Returns the rest of the counter's pause; zero if `most` other counters are
    // paused.
    Duration begin(const CounterId& counter, int status, Duration length, SteadyTime now);
    [[nodiscard]] std::optional<Pause> look(const CounterId& counter, SteadyTime now) const;

    struct Until {
        int status = 0;
        SteadyTime end{};
    };
    // Returns all pauses, also some that have ended.
    [[nodiscard]] std::map<CounterId, Until> all() const;

  private:
    mutable std::mutex mutex_;
    std::map<CounterId, Until> paused_;
    std::atomic<bool> any_{false};
};

} // namespace stint::permits
