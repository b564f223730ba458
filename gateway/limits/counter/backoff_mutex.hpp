// The mutex of a shard, which is held for some ten instructions at a time.
#pragma once

#include <mutex>

namespace stint::limits {

// Meets the requirements of Lockable. A thread that finds it locked stays away for about a
// microsecond, and sleeps only after several of these. To retry at once would take the cache line
// with mutex and counter from the core that is about to finish with it: two threads on one counter
// need 95 ns an admission each, where they needed 230 with std::mutex alone, and 310 retrying at
// once (scripts/bench-limits, contended).
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
