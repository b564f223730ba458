// Decides whether a request is sent once more. Pure.
#pragma once

#include "base/time.hpp"
#include "routing/route.hpp"
#include "upstream/retry_budget.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace stint::proxy {

// One for each request; counts its attempts.
class RetryPolicy {
  public:
    // The state of a request when an attempt has failed.
    struct Facts {
        std::string_view method;
        bool can_replay = false;     // from its first byte
        bool body_done = false;      // all of its body has been read
        bool client_untold = false;  // the client has nothing of a response
        bool goes_on = false;        // it is not aborted, and no pause has begun
        bool response_begun = false; // the upstream has sent a byte
        bool request_begun = false;  // the upstream may have got a byte
    };

    // Decides whether to send on another connection to the same endpoint, whatever the rules:
    // servers close idle connections, and cannot know that a request is on its way. Yes once a
    // request, at most; one that is not idempotent (RFC 9110 section 9.2.2) goes only if no byte of
    // it was taken. Counts nothing: reconnect().
    [[nodiscard]] bool may_reconnect(bool reused, const Facts& facts) const noexcept;
    // Notes another connection in the place of one that had been idle.
    void reconnect() noexcept { reconnected_ = true; }
    // True if that has happened in this attempt: an idle connection is not trusted again.
    [[nodiscard]] bool reconnected() const noexcept { return reconnected_; }

    enum class Verdict : std::uint8_t { no, over_budget, yes };
    // Decides whether the rules allow another attempt, whatever has failed. Counts nothing:
    // begin_attempt().
    [[nodiscard]] Verdict judge(
        const routing::RetryRules& rules,
        const Facts& facts,
        const upstream::RetryBudget& budget,
        SteadyTime now) const noexcept;
    // Decides whether a refused connection tries another endpoint, whatever the rules: nothing of
    // the request was sent. Yes once a request.
    [[nodiscard]] bool fail_over(const routing::RetryRules& rules) noexcept;
    void begin_attempt() noexcept { ++attempts_; }

    // Attempts, with the one under way; not counting one that only reconnects.
    [[nodiscard]] unsigned attempts() const noexcept { return attempts_; }
    // Returns true once: the request is to be counted in its upstream's budget.
    [[nodiscard]] bool count_request() noexcept { return !std::exchange(counted_, true); }
    // Forgets all attempts: nothing has been sent, and idle connections may have died meanwhile.
    void restart() noexcept;

  private:
    unsigned attempts_ = 1;
    bool reconnected_ = false;
    bool failed_over_ = false;
    bool counted_ = false;
};

} // namespace stint::proxy
