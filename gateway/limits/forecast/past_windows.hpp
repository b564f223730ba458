// The counts of a limit's last complete windows, kept in bounded memory. A forecast for another
// number reads them.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/counter/backoff_mutex.hpp"
#include "limits/forecast/window_list.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stint::limits {

// The counts of a limit's last complete windows, as a value.
struct Past {
    static constexpr std::size_t most_listed = 8192;

    SteadyTime since{}; // windows that ended before this instant are left out
    WindowList windows{most_listed};
};

// Records a window when it is over and its counter is used anew or dropped: a request in an open
// window pays nothing, and neither does a refusal. Windows are kept by the time of their end, in
// spans of one window's length: so a span has one window of each key.
//  - Kept are the last 8 spans, of windows shorter than 4 s as many as last 32 s, 32 at most.
//  - In each span the heaviest windows are listed one by one: 256 of a limit that has no key or at
//    most 4,096, else 64 in each of 16 stripes. The rest are a histogram (CountBins).
//  - Windows with a single request are left out: no number refuses that one. A flood of keys
//    consists of these.
// Memory is taken as windows end: 24 bytes for a listed window, up to 4 KiB for a histogram; at
// most 80 KiB for one stripe and 700 KiB for 16, and four times as much for windows of 1 s or less.
// Without memory windows are left out. Threads: any.
class PastWindows {
  public:
    // per: a window's length; zero for a limit without windows. shards: of the limit's counters.
    PastWindows(Duration per, std::size_t shards) noexcept;
    PastWindows(const PastWindows&) = delete;
    PastWindows& operator=(const PastWindows&) = delete;
    ~PastWindows();

    // The highest count of windows that add() leaves out.
    static constexpr std::uint64_t negligible = 1;

    // Adds a window that has ended.
    void add(std::size_t shard, Hash128 key, std::uint64_t counted, SteadyTime end) noexcept;

    // Appends the recorded windows of the spans up to `now`, and sets Past::since.
    void append_to(Past& past, SteadyTime now) const;
    // True if a window with this end belongs to the spans that append_to() reads.
    [[nodiscard]] bool covers(SteadyTime end, SteadyTime now) const noexcept;

  private:
    static constexpr std::size_t most_stripes = 16;

    struct Span {
        std::int64_t number = -1; // spans since the clock's epoch
        WindowList windows;
    };
    struct Stripe {
        mutable BackoffMutex mutex;
        std::vector<Span> spans; // the place of a span is its number modulo their number
    };

    [[nodiscard]] std::int64_t number_of(SteadyTime instant) const noexcept {
        return instant.time_since_epoch() / per_;
    }
    // Returns the shard's stripe; nullptr if there is none yet, or no memory to make it.
    [[nodiscard]] Stripe* made(std::size_t shard) const noexcept;
    [[nodiscard]] Stripe* obtain(std::size_t shard) noexcept;

    const Duration per_;
    const std::size_t stripe_count_;
    const std::size_t span_count_;
    std::atomic<Stripe*> stripes_{nullptr}; // stripe_count_ of them, made on first use
};

} // namespace stint::limits
