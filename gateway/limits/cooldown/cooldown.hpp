// One pause that an upstream has asked for: what may be sent meanwhile, and how the rate comes
// back.
#pragma once

#include "base/time.hpp"
#include "limits/cooldown/cooldown_waiter.hpp"
#include "limits/cooldown/learned_pace.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace stint::limits {

// A configuration's rules; passed with each call, as a quota is.
struct CooldownRules {
    Duration most{};                   // the longest pause
    std::optional<Duration> otherwise; // pause for an answer that names no time; without it, none
    Duration ramp{};                   // from half of the former rate back to all of it
    bool learn = false;                // pace to the limits that the upstream reports
    // Waiting for the scope: enabled, longest in total, most requests at once.
    bool waits = false;
    Duration max_wait{};
    std::uint64_t max_waiting = 0;
};

// Moving count of what is sent: over the last 10 to 20 seconds, or since the first if that is less.
class SendRate {
  public:
    void count(SteadyTime now) noexcept;
    // At least one in ten seconds, and over no less than one second.
    [[nodiscard]] double per_second(SteadyTime now) const noexcept;

  private:
    static constexpr Duration span = std::chrono::seconds{10};
    SteadyTime first_{};
    SteadyTime begin_{}; // begin of the current span
    double current_ = 0;
    double former_ = 0;
};

struct CooldownState {
    enum class Phase : std::uint8_t { open, paused, probing, ramping };
    std::string_view of; // the paused scope: a host, a route, a key
    Phase phase = Phase::open;
    int status = 0;           // the upstream's answer
    Duration left{};          // rest of the pause
    double rate = 0;          // per second: allowed while ramping, else sent
    std::uint64_t pauses = 0; // ever
    std::uint64_t refused = 0;
    std::size_t waiting = 0;
};

// One scope: a host, a route or a key. While it is open every request may be sent. An answer of 429
// or 503 that names a time pauses it: nothing is sent. Then one request, the probe, may go, and all
// others wait for its answer. A good one opens the scope at half the rate that was sent before the
// pause; the rate then grows linearly, and is unbounded once it is what it was. A bad one pauses
// the scope again; a probe without an answer is replaced by the next request. In addition, only
// with CooldownRules::learn: see LearnedPace.
// Requests that may wait for a closed scope queue up (see CooldownWaiter): the first in the queue
// is the next to go, and no request overtakes it while sending is restricted.
// Threads: any. No I/O, no clock.
class Cooldown {
  public:
    // Permission to send one request. Destroyed without an answered() it gives a probe's place
    // back.
    class Pass {
      public:
        Pass() = default;
        Pass(Pass&& other) noexcept;
        Pass& operator=(Pass&& other) noexcept;
        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;
        ~Pass() { drop(); }

        explicit operator bool() const noexcept { return cooldown_ != nullptr; }
        [[nodiscard]] bool is_probe() const noexcept { return probe_; }
        // True if its answer is to be passed to adapt().
        [[nodiscard]] bool is_counted() const noexcept { return counted_; }
        // True if no pause has begun since it was given. To be called again right before sending.
        [[nodiscard]] bool still_good() const noexcept;
        // Takes in the head of the answer. asked: status and time of one that asks for a pause (the
        // time may be missing); nothing for any other answer.
        struct Asked {
            int status;
            std::optional<Duration> wait;
        };
        void
        answered(const std::optional<Asked>& asked, SteadyTime now, const CooldownRules& rules);
        // Takes in the same answer's report of the upstream's own limits, if any.
        void adapt(const std::optional<LearnedPace::Told>& told, SteadyTime now);

      private:
        friend class Cooldown;
        Pass(std::shared_ptr<Cooldown> cooldown, std::uint64_t era, bool probe) noexcept;
        void drop() noexcept;

        std::shared_ptr<Cooldown> cooldown_;
        std::uint64_t era_ = 0;
        bool probe_ = false;
        bool counted_ = false; // in the learned pace, as under way
        bool scout_ = false;   // see LearnedPace
    };

    // A refusal: the upstream's status, and how long to wait. The wait is one second while a probe
    // is under way, because its duration is unknown.
    struct Refused {
        int status = 0;
        Duration wait{};
        bool paced = false; // by the upstream's reported limits; it has asked for no pause
    };
    struct Entry {
        Pass pass; // empty: refused
        Refused refused;
    };

    explicit Cooldown(std::string of) : of_{std::move(of)} {}
    Cooldown(const Cooldown&) = delete;
    Cooldown& operator=(const Cooldown&) = delete;

    // Returns the refusal that enter() would give now, without entering; nothing if it would admit.
    [[nodiscard]] std::optional<Refused> look(SteadyTime now, const CooldownRules& rules);
    // Admits or refuses a request. To be called right before sending.
    [[nodiscard]] static Entry
    enter(const std::shared_ptr<Cooldown>& cooldown, SteadyTime now, const CooldownRules& rules);

    // The outcome for a request that may wait: it goes, it is refused, or it is queued and asks
    // again at `again`, or earlier when it is called.
    struct Attempt {
        Pass pass;
        std::optional<Refused> refused;
        SteadyTime again{};
    };
    // The first call puts the waiter in the queue; with a pass or a refusal it has left.
    [[nodiscard]] static Attempt attempt(
        const std::shared_ptr<Cooldown>&, CooldownWaiter&, SteadyTime now, const CooldownRules&);
    // The answer of outlook(). Both empty: the request may be sent.
    struct Outlook {
        std::optional<Refused> refused;
        std::optional<Duration> wait; // it may wait, and would be sent after about so long
    };
    // Returns the answer to a request that comes now: of look(), and, where that refuses and
    // requests may wait, of the first attempt(). Enters and counts nothing. The wait is an
    // estimate: those that wait already go first, at the present rate of the ramp or of the learned
    // pace. It is at most max_wait, after which the request would be refused.
    [[nodiscard]] Outlook outlook(SteadyTime now, const CooldownRules& rules) const;
    // Takes in an answer to a request that did not go through here. Returns how long the pause
    // lasts from now; zero where it asks for none.
    Duration told(const Pass::Asked& asked, SteadyTime now, const CooldownRules& rules);

    // Removes a waiter from the queue; required before a queued one is destroyed. Idempotent.
    void leave(CooldownWaiter& waiter) noexcept;

    [[nodiscard]] CooldownState state(SteadyTime now) const;
    // True if open and unused for so long that forgetting it loses nothing.
    [[nodiscard]] bool is_idle(SteadyTime now) const;

  private:
    using Phase = CooldownState::Phase;

    static constexpr Duration shortest_wait = std::chrono::milliseconds{1};
    static constexpr Duration while_probing = std::chrono::seconds{1};
    static constexpr int too_many_requests = 429; // if the upstream has named no status

    // The reason why a waiter does not go now.
    struct Obstacle {
        Refused why;
        bool known = false; // it lasts at least so long
    };

    [[nodiscard]] static Duration interval(double per_second) noexcept;
    // Returns the phase. A ramp of this length that is over counts as open.
    [[nodiscard]] Phase phase_at(SteadyTime now, Duration ramp) const noexcept;
    // Takes up the rules' ramp, and ends one that is over.
    void end_ramp(SteadyTime now, const CooldownRules& rules) noexcept;
    [[nodiscard]] std::optional<Refused>
    closed(SteadyTime now, const CooldownRules& rules) const noexcept;
    [[nodiscard]] std::optional<Refused> closed_to_new(SteadyTime now, const CooldownRules& rules);
    [[nodiscard]] std::optional<Refused>
    refusal_of_new(SteadyTime now, const CooldownRules& rules) const noexcept;
    [[nodiscard]] std::optional<Obstacle>
    obstacle_to(bool first, SteadyTime now, const CooldownRules& rules) const noexcept;
    [[nodiscard]] bool
    may_stand(bool stands, const Obstacle&, SteadyTime deadline, SteadyTime, const CooldownRules&)
        const noexcept;
    [[nodiscard]] Duration
    wait_behind_all(const Refused& first, SteadyTime now, const CooldownRules&) const noexcept;
    [[nodiscard]] Pass grant(const std::shared_ptr<Cooldown>&, SteadyTime, const CooldownRules&);
    [[nodiscard]] SteadyTime ask_again_at(const Refused&, bool first, SteadyTime now) const;
    void take_out(CooldownWaiter& waiter) noexcept;
    void call_first() noexcept;
    void call_all() noexcept;
    [[nodiscard]] double rate_at(SteadyTime now) const noexcept;
    [[nodiscard]] double rate_after(Duration ramped) const noexcept;
    void pause(int status, Duration wait, SteadyTime now);
    void throttled(const Pass::Asked& asked, bool probe, SteadyTime, const CooldownRules& rules);
    void settle_probe(bool good, SteadyTime now) noexcept;

    const std::string of_;
    mutable std::mutex mutex_;          // guards all below
    std::atomic<std::uint64_t> era_{0}; // changes with each pause; read without the lock
    Phase phase_ = Phase::open;
    int status_ = 0;
    SteadyTime until_{};   // end of the pause
    Duration last_wait_{}; // the last time asked for
    SendRate sent_;
    SteadyTime last_sent_{};
    double former_rate_ = 0; // per second, before the pause
    Duration ramp_{};
    SteadyTime ramp_from_{};
    SteadyTime next_{}; // while ramping: when the next may go
    LearnedPace pace_;
    CooldownQueue line_;
    std::uint64_t pauses_ = 0;
    std::uint64_t refused_ = 0;
};

using CooldownPtr = std::shared_ptr<Cooldown>;

} // namespace stint::limits
