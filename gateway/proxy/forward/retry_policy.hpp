// Decides whether a request is sent once more. Does no I/O.
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
        bool can_replay = false;     // the request can be sent again from its first byte
        bool body_done = false;      // all of the request's body has been read
        bool client_untold = false;  // no byte of a response was sent to the client
        bool goes_on = false;        // the request is not aborted, and no pause has begun
        bool response_begun = false; // the upstream has sent a byte
        bool request_begun = false;  // the upstream may have got a byte
    };

    // Decides whether to send on another connection to the same endpoint, even without retry rules:
    // a server may close an idle connection just when a request is sent on it. Returns true at most
    // once for each request. A method that is not idempotent (RFC 9110 section 9.2.2) is sent again
    // only if the upstream took no byte. The caller counts the new attempt by reconnect().
    [[nodiscard]] bool may_reconnect(bool reused, const Facts& facts) const noexcept;
    // Notes that a new connection replaces a failed idle connection.
    void reconnect() noexcept { reconnected_ = true; }
    // True if the request has reconnected: it does not try another idle connection.
    [[nodiscard]] bool reconnected() const noexcept { return reconnected_; }

    enum class Verdict : std::uint8_t { no, over_budget, yes };
    // Decides whether the retry rules and the budget allow another attempt, whatever the failure
    // was. The caller counts the attempt by begin_attempt().
    [[nodiscard]] Verdict judge(
        const routing::RetryRules& rules,
        const Facts& facts,
        const upstream::RetryBudget& budget,
        SteadyTime now) const noexcept;
    // Decides whether a refused connect tries another endpoint, even without retry rules, because
    // nothing of the request was sent. Returns true at most once for each request.
    [[nodiscard]] bool fail_over(const routing::RetryRules& rules) noexcept;
    void begin_attempt() noexcept { ++attempts_; }

    // Returns the number of attempts, including the current one. Reconnects are not counted.
    [[nodiscard]] unsigned attempts() const noexcept { return attempts_; }
    // Returns true on the first call alone: the request is then to be counted in its upstream's
    // retry budget.
    [[nodiscard]] bool count_request() noexcept { return !std::exchange(counted_, true); }
    // Forgets all attempts of a request that waits for its upstream's pause (cool-down) to end:
    // sending it afterwards is its first attempt.
    void restart() noexcept;

  private:
    unsigned attempts_ = 1;
    bool reconnected_ = false;
    bool failed_over_ = false;
    bool counted_ = false;
};

} // namespace stint::proxy
