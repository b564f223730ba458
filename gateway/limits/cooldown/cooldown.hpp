// A cool-down: a pause that an upstream has asked for. Decides what may be sent during the pause,
// and how the rate grows back after it.
#pragma once

#include "base/time.hpp"
#include "limits/cooldown/cooldown_waiter.hpp"
#include "limits/cooldown/learned_pace.hpp"
#include "limits/cooldown/pause_exchange.hpp"

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

// The configured rules of a cool-down. Each call passes them, so that a reload takes effect at
// once.
struct CooldownRules {
    Duration most{};                   // the longest pause
    std::optional<Duration> otherwise; // pause for an answer without a time; nothing: no pause
    Duration ramp{};    // time in which the rate grows from half to all of the former rate
    bool learn = false; // pace to the limits that the upstream reports
    // The queue of a closed scope: enabled, longest wait of a request, most requests at once.
    bool waits = false;
    Duration max_wait{};
    std::uint64_t max_waiting = 0;
};

// The rate of sent requests over the last 10 to 20 seconds, or since the first request if that is
// less.
class SendRate {
  public:
    void count(SteadyTime now) noexcept;
    // Returns at least 0.1 (one in ten seconds). Divides by at least one second.
    [[nodiscard]] double per_second(SteadyTime now) const noexcept;
    // Returns the time between two requests at this rate.
    [[nodiscard]] static Duration interval(double per_second) noexcept;

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
    int status = 0;  // status of the upstream's answer
    Duration left{}; // rest of the pause
    // Requests per second: sent while open, allowed while ramping, else sent before the pause.
    double rate = 0;
    std::uint64_t pauses = 0; // total
    std::uint64_t refused = 0;
    std::size_t waiting = 0;
    bool elsewhere = false; // another gateway was asked for the pause
};

// The cool-down of one scope: a host, a route or a key. While the scope is open, every request may
// be sent. A 429 or 503 that names a time pauses the scope: nothing is sent. After the pause one
// request, the probe, is sent, and all others wait for its answer. A good answer opens the scope at
// half the rate sent before the pause. The rate then grows linearly, and is unlimited once the
// former rate is reached. A bad answer pauses the scope again. A probe without an answer is
// replaced by the next request. With CooldownRules::learn, LearnedPace applies in addition.
// With share_by() gateways share the pauses; each sends a probe of its own, and has its own rate.
// Requests that may wait for a closed scope queue up (see CooldownWaiter). The first in the queue
// is sent next, and no request overtakes it while sending is restricted.
// Threads: any. No I/O, no clock.
class Cooldown {
  public:
    // Permission to send one request. If it is the probe's, destroying it without answered() makes
    // the next request the probe.
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
        // True if the request's answer must be passed to adapt().
        [[nodiscard]] bool is_counted() const noexcept { return counted_; }
        // True if no pause has begun since this pass was granted. Call right before sending.
        [[nodiscard]] bool still_good() const noexcept;
        // Records the head of the upstream's answer. asked: status and time of an answer that asks
        // for a pause (the time may be missing); nothing for any other answer.
        struct Asked {
            int status;
            std::optional<Duration> wait;
        };
        void
        answered(const std::optional<Asked>& asked, SteadyTime now, const CooldownRules& rules);
        // Records the rate limits that the upstream's answer reports (told); nothing if it reports
        // none. No effect unless is_counted().
        void adapt(const std::optional<LearnedPace::Told>& told, SteadyTime now);

      private:
        friend class Cooldown;
        Pass(std::shared_ptr<Cooldown> cooldown, std::uint64_t era, bool probe) noexcept;
        void drop() noexcept;

        std::shared_ptr<Cooldown> cooldown_;
        std::uint64_t era_ = 0;
        bool probe_ = false;
        bool counted_ = false; // LearnedPace counts the request as in flight
        bool scout_ = false;   // the request is the scout of LearnedPace
    };

    // A refusal: the upstream's status, and how long to wait. The wait is one second while a probe
    // is under way, because its duration is unknown.
    struct Refused {
        int status = 0;
        Duration wait{};
        bool paced = false; // refused by the upstream's reported limits, not by a pause
    };
    struct Entry {
        Pass pass; // empty: refused
        Refused refused;
    };

    explicit Cooldown(std::string of) : of_{std::move(of)} {}
    Cooldown(const Cooldown&) = delete;
    Cooldown& operator=(const Cooldown&) = delete;

    // Returns the refusal that enter() would give at `now`, or nothing if enter() would admit the
    // request. Counts a refusal in CooldownState::refused, unless requests may wait (rules.waits).
    [[nodiscard]] std::optional<Refused> look(SteadyTime now, const CooldownRules& rules);
    // Admits or refuses a request. To be called right before sending.
    [[nodiscard]] static Entry
    enter(const std::shared_ptr<Cooldown>& cooldown, SteadyTime now, const CooldownRules& rules);

    // The outcome for a request that may wait: sent (`pass`), refused, or queued. A queued request
    // calls attempt() again at `again`, or earlier if CooldownWaiter::call() is called.
    struct Attempt {
        Pass pass;
        std::optional<Refused> refused;
        SteadyTime again{};
    };
    // Tries to admit a request that may wait. The first call may queue the waiter. With a pass or a
    // refusal, the waiter is not in the queue any more.
    [[nodiscard]] static Attempt attempt(
        const std::shared_ptr<Cooldown>&, CooldownWaiter&, SteadyTime now, const CooldownRules&);
    // The answer of outlook(). Both empty: the request may be sent.
    struct Outlook {
        std::optional<Refused> refused;
        std::optional<Duration> wait; // the request would wait for about so long
    };
    // Predicts the outcome of a request that comes now: that of look() or, if requests may wait, of
    // a first attempt(). Queues and counts nothing. The wait is an estimate, at most max_wait:
    // requests that wait already go first, at the present rate of the ramp or of the learned pace.
    [[nodiscard]] Outlook outlook(SteadyTime now, const CooldownRules& rules) const;
    // Records an upstream's answer to a request that did not go through this gateway. Returns the
    // rest of the pause; zero if there is none.
    Duration told(const Pass::Asked& asked, SteadyTime now, const CooldownRules& rules);

    // Tells each pause of this gateway to the exchange from now on, also the one under way, under
    // this name. nullptr: ends that.
    void share_by(PauseExchangePtr exchange, const Hash128& name) noexcept;
    // Begins or prolongs a pause that another gateway was asked for. It is not told again.
    void learn(const SharedPause& pause, SteadyTime now);

    // Removes a waiter from the queue; required before a queued one is destroyed. Idempotent.
    void leave(CooldownWaiter& waiter) noexcept;

    [[nodiscard]] CooldownState state(SteadyTime now) const;
    // True if the scope is open and was unused for so long that its state can be dropped.
    [[nodiscard]] bool is_idle(SteadyTime now) const;

  private:
    using Phase = CooldownState::Phase;

    static constexpr Duration shortest_wait = std::chrono::milliseconds{1};
    static constexpr Duration while_probing = std::chrono::seconds{1};
    static constexpr int too_many_requests = 429; // if the upstream has named no status

    // The reason why a waiter cannot be sent now.
    struct Obstacle {
        Refused why;
        bool known = false; // why.wait is a lower bound of the wait
    };

    // Returns the phase at `now`. A ramp that has lasted for `ramp` counts as open.
    [[nodiscard]] Phase phase_at(SteadyTime now, Duration ramp) const noexcept;
    // Applies the rules' length of the ramp, and opens the scope if its ramp is over.
    void end_ramp(SteadyTime now, const CooldownRules& rules) noexcept;
    [[nodiscard]] std::optional<Refused>
    closed(SteadyTime now, const CooldownRules& rules) const noexcept;
    [[nodiscard]] std::optional<Refused> closed_to_new(SteadyTime now, const CooldownRules& rules);
    [[nodiscard]] std::optional<Refused>
    refusal_of_new(SteadyTime now, const CooldownRules& rules) const noexcept;
    [[nodiscard]] std::optional<Obstacle>
    obstacle_to(bool first, SteadyTime now, const CooldownRules& rules) const noexcept;
    [[nodiscard]] bool may_stand(
        bool stands,
        bool may_wait,
        const Obstacle&,
        SteadyTime deadline,
        SteadyTime,
        const CooldownRules&) const noexcept;
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
    Duration last_wait_{}; // length of the pause last asked for
    SendRate sent_;
    SteadyTime last_sent_{};
    double former_rate_ = 0; // per second, before the pause
    Duration ramp_{};
    SteadyTime ramp_from_{};
    SteadyTime next_{}; // while ramping: when the next request may be sent
    LearnedPace pace_;
    CooldownQueue line_;
    std::uint64_t pauses_ = 0;
    std::uint64_t refused_ = 0;
    PauseExchangePtr exchange_; // null: the pauses are this gateway's own
    Hash128 name_{};            // for exchange_
    bool elsewhere_ = false;    // another gateway was asked for the pause
};

using CooldownPtr = std::shared_ptr<Cooldown>;

} // namespace stint::limits
