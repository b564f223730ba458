// The mutex of a shard, that is, of a part of a limit's counters (shards.hpp). It is mostly held
// only for the checks and charges of one admission.
#pragma once

#include <mutex>

namespace stint::limits {

// A mutex that backs off: a thread that finds it locked pauses for about a microsecond before it
// tries again, and blocks only after several tries. An immediate retry would take the cache line
// with mutex and counter from the core that is about to finish with it. Two threads on one counter
// need 95 ns an admission each; with std::mutex alone 230 ns, with immediate retries 310 ns
// (scripts/bench-limits, contended). Meets the requirements of Lockable.
class BackoffMutex {
  public:
    void lock() {
        for (int times = 0; times < most_tries; ++times) {
            if (try_lock()) [[likely]]
                return;
            stay_away();
        }
        mutex_.lock();
    }
    [[nodiscard]] bool try_lock() { return mutex_.try_lock(); }
    void unlock() { mutex_.unlock(); }

  private:
    static constexpr int most_tries = 8;
    static constexpr int pauses = 40; // each takes 10 to 140 cycles, depending on the processor

    static void stay_away() noexcept {
        for (int i = 0; i < pauses; ++i) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            asm volatile("isb"); // as long as x86's pause; yield ends at once
#endif
        }
    }

    std::mutex mutex_;
};

} // namespace stint::limits
