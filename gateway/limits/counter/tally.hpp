// Totals of one limit's decisions, since the limit was made.
#pragma once

#include "base/time.hpp"
#include "limits/decision.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace stint::limits {

// The admissions that a limit in dry run would not have made at once. Threads: any.
class DryRunTally {
  public:
    void count_exceeded() noexcept { exceeded_.fetch_add(1, std::memory_order_relaxed); }
    // Counts an admission, which count_exceeded() has counted before, as one that would have
    // waited.
    void count_wait() noexcept { waits_.fetch_add(1, std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t would_wait() const noexcept {
        return waits_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t would_refuse() const noexcept {
        const std::uint64_t waits = would_wait();
        const std::uint64_t exceeded = exceeded_.load(std::memory_order_relaxed);
        return exceeded > waits ? exceeded - waits : 0;
    }

  private:
    std::atomic<std::uint64_t> exceeded_{0};
    std::atomic<std::uint64_t> waits_{0};
};

// Threads: any; the totals of one moment need not fit together.
class Tally {
  public:
    void count_refusal(Refusal refusal) noexcept {
        refused_.fetch_add(1, relaxed);
        if (refusal == Refusal::table_full)
            table_full_.fetch_add(1, relaxed);
    }
    // Counts an admission that was counted in the sketch. Returns true at most once a minute, so
    // that the caller reports the full table that often.
    [[nodiscard]] bool count_overflow(SteadyTime now) noexcept {
        overflowed_.fetch_add(1, relaxed);
        const std::int64_t instant = now.time_since_epoch().count();
        std::int64_t next = next_overflow_news_.load(relaxed);
        return next <= instant && next_overflow_news_.compare_exchange_strong(
                                      next, instant + between_overflow_news.count(), relaxed);
    }

    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.load(relaxed); }
    [[nodiscard]] DryRunTally& dry_run() noexcept { return dry_run_; }
    [[nodiscard]] std::uint64_t table_full() const noexcept { return table_full_.load(relaxed); }
    [[nodiscard]] std::uint64_t overflowed() const noexcept { return overflowed_.load(relaxed); }

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr Duration between_overflow_news = std::chrono::minutes{1};

    std::atomic<std::uint64_t> refused_{0};
    DryRunTally dry_run_;
    std::atomic<std::uint64_t> table_full_{0};
    std::atomic<std::uint64_t> overflowed_{0};
    std::atomic<std::int64_t> next_overflow_news_{0}; // steady, ns
};

} // namespace stint::limits
