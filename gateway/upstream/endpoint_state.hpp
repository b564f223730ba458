// Runtime state of an endpoint: shared by all workers, kept over reloads.
#pragma once

#include "base/time.hpp"
#include "upstream/ejection.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace stint::upstream {

// One for each (upstream, endpoint). Threads: any. The atomics that each request reads change only
// with failures, checks, and the endpoint's availability, so their cache line stays in every core's
// cache. in_flight_ changes with each request, and has a cache line of its own.
class EndpointState {
  public:
    explicit EndpointState(std::string text) : text_{std::move(text)} {}
    EndpointState(const EndpointState&) = delete;
    EndpointState& operator=(const EndpointState&) = delete;

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

    // --- availability ---
    [[nodiscard]] bool up(SteadyTime now) const noexcept {
        return out_.load(relaxed) == 0 && ejected_until() <= now;
    }
    [[nodiscard]] bool drained() const noexcept { return (out_.load(relaxed) & drained_bit) != 0; }
    [[nodiscard]] bool healthy() const noexcept {
        return (out_.load(relaxed) & unhealthy_bit) == 0;
    }
    [[nodiscard]] SteadyTime ejected_until() const noexcept { return instant(ejected_until_); }
    // Returns the time at which the endpoint last came back, from which its slow start counts: the
    // latest of all calls of enable() and set_healthy() that changed something, and of the ends of
    // ejections. A pending ejection's end is in the future. An endpoint that is drained or
    // unhealthy keeps its earlier value. SteadyTime{} if it has none.
    [[nodiscard]] SteadyTime back_since() const noexcept { return instant(back_since_); }
    // Returns the time of the next active check; SteadyTime{} if the endpoint has no active checks.
    [[nodiscard]] SteadyTime next_check() const noexcept { return instant(next_check_); }

    // --- changes of availability: by an operator, the active checks, EndpointGroup ---
    void drain() noexcept { out_.fetch_or(drained_bit, relaxed); }
    void enable(SteadyTime now) noexcept { come_back(drained_bit, now); }
    void set_unhealthy() noexcept { out_.fetch_or(unhealthy_bit, relaxed); }
    void set_healthy(SteadyTime now) noexcept { come_back(unhealthy_bit, now); }
    // Ejections are set and read under the lock of EndpointGroup.
    void eject(const Ejection& ejection) noexcept;
    [[nodiscard]] const Ejection& last_ejection() const noexcept { return last_ejection_; }

    // --- outcomes of requests ---
    // Notes a success: failures_in_a_row() becomes 0.
    void note_success() noexcept {
        if (failures_in_a_row_.load(relaxed) != 0) [[unlikely]]
            failures_in_a_row_.store(0, relaxed);
    }
    // Notes a failure. Returns the number of failures in a row, this one included. why: for people.
    std::uint32_t note_failure(std::string_view why) noexcept;
    [[nodiscard]] std::uint32_t failures_in_a_row() const noexcept {
        return failures_in_a_row_.load(relaxed);
    }
    [[nodiscard]] std::uint64_t failures() const noexcept { return failures_.load(relaxed); }
    [[nodiscard]] std::uint64_t ejections() const noexcept { return ejections_.load(relaxed); }
    [[nodiscard]] std::string last_failure() const;

    // --- active checks ---
    struct Check {
        SteadyTime at{}; // SteadyTime{}: there has been none
        bool passed = false;
        std::string found; // the response's status, or why there was none
    };
    void note_check(Check check) noexcept;
    void set_next_check(SteadyTime at) noexcept { next_check_.store(ticks(at), relaxed); }
    [[nodiscard]] Check last_check() const;
    [[nodiscard]] std::uint64_t checks_passed() const noexcept {
        return checks_passed_.load(relaxed);
    }
    [[nodiscard]] std::uint64_t checks_failed() const noexcept {
        return checks_failed_.load(relaxed);
    }

    // --- requests in flight; none are counted here if Cluster::Member::own_in_flight counts them
    // ---
    [[nodiscard]] std::uint32_t in_flight() const noexcept { return in_flight_.load(relaxed); }
    // Adds one request. Returns false if `most` are in flight already. most = 0 means no limit.
    [[nodiscard]] bool charge(std::uint32_t most) noexcept;
    // Removes one request. Of a thread that frees a slot and a waiter that joins the queue
    // meanwhile, at least one sees the other's change: charge() and EndpointQueue::awaited() are
    // sequentially consistent, too.
    void discharge() noexcept { in_flight_.fetch_sub(1, std::memory_order_seq_cst); }

  private:
    using Instant = std::atomic<std::int64_t>; // ticks since the clock's epoch

    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr std::uint32_t drained_bit = 1;
    static constexpr std::uint32_t unhealthy_bit = 2;

    static std::int64_t ticks(SteadyTime at) noexcept { return at.time_since_epoch().count(); }
    static SteadyTime instant(const Instant& at) noexcept {
        return SteadyTime{Duration{at.load(relaxed)}};
    }
    void come_back(std::uint32_t bit, SteadyTime now) noexcept;
    void set_back_since(SteadyTime at) noexcept;

    const std::string text_;
    std::atomic<std::uint32_t> out_{0};
    std::atomic<std::uint32_t> failures_in_a_row_{0};
    Instant ejected_until_{0};
    Instant back_since_{0};
    Instant next_check_{0};
    std::atomic<std::uint64_t> failures_{0};
    std::atomic<std::uint64_t> ejections_{0};
    std::atomic<std::uint64_t> checks_passed_{0};
    std::atomic<std::uint64_t> checks_failed_{0};
    Ejection last_ejection_;
    mutable std::mutex texts_; // guards last_failure_ and last_check_
    std::string last_failure_;
    Check last_check_;
    alignas(64) std::atomic<std::uint32_t> in_flight_{0};
};

using EndpointStatePtr = std::shared_ptr<EndpointState>;

} // namespace stint::upstream
