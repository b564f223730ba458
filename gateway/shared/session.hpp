// A gateway's session at the store: its beats, and what it knows of the others. Pure: no I/O, no
// clock.
#pragma once

#include "base/time.hpp"
#include "shared/call.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::shared {

// The names and times of a gateway's session.
struct SessionTerms {
    std::string gateway; // unique to the gateway, the same over its restarts; no space, no colon
    std::string session; // unique to the process; no space, no colon
    Duration time_to_live = std::chrono::seconds{30}; // the same in all gateways
    Duration timeout = std::chrono::seconds{1};       // a call without a reply is given up
    // A want is answered so long after its call at most, if the store recalls a share for it.
    Duration recall_wait = std::chrono::milliseconds{10};
};

// The state of a session for its user.
enum class SessionState : std::uint8_t {
    unknown, // the store has not answered yet
    joining, // holds nothing yet: others have still to learn of the session
    active,
    taken,   // another process with the same gateway name lives
    foreign, // gateways live whose version keeps shares in another form
    dead     // the store has ended the session: its user begins a new one
};

// Returns the state in a word: "active".
[[nodiscard]] std::string_view name_of(SessionState state) noexcept;

// How long a server may be used after others were asked whether it is the primary, and said so. A
// gateway's shares end two thirds of the time to live after it has used the server last. A new
// primary gives them to others a time to live after its first call, which comes only when the
// former one cannot be confirmed any more.
[[nodiscard]] constexpr Duration longest_confirmation(Duration time_to_live) noexcept {
    return time_to_live / 8;
}

// Not thread-safe. The session ends at its own clock after two thirds of its time to live, at the
// store's after all of it: the rest allows for clocks that differ in speed.
class Session {
  public:
    explicit Session(SessionTerms terms);

    [[nodiscard]] const SessionTerms& terms() const noexcept { return terms_; }
    [[nodiscard]] SessionState state() const noexcept { return state_; }
    [[nodiscard]] const std::string& epoch() const noexcept { return epoch_; }
    // True once the store has no doubt of what this epoch's gateways hold.
    [[nodiscard]] bool learned() const noexcept { return learned_; }
    // Returns the span (span_of()) of the counters of which the store gives shares, by the latest
    // reply: of what counts for longer it may have forgotten some. Negative: it gives none.
    [[nodiscard]] Duration quiet_span() const noexcept { return quiet_span_; }
    // From this instant on the shares may not be used; it moves with each answered beat.
    [[nodiscard]] SteadyTime ends_at() const noexcept { return ends_at_; }
    [[nodiscard]] SteadyTime next_beat() const noexcept { return next_beat_; }
    // Returns when the oldest beat was sent that has no answer yet; none: all have one.
    [[nodiscard]] std::optional<SteadyTime> unanswered_since() const noexcept {
        return unanswered_since_;
    }

    // Returns the arguments that every call begins with.
    [[nodiscard]] std::vector<std::string>
    arguments(std::string_view operation, SteadyTime now) const;
    // Returns the arguments of a beat. told_all: the store knows in this epoch all that the session
    // holds.
    [[nodiscard]] std::vector<std::string> beat(bool told_all, const Now& now);
    // Moves the next beat forward, to soon after the latest.
    void hasten(SteadyTime now) noexcept;

    // The result of a reply to a beat.
    struct Beaten {
        bool new_epoch = false; // tell all shares again
        bool lost = false;      // the session's shares may be others' now
    };
    // sent: when the beat was sent. A reply to an earlier beat than the latest answered one changes
    // nothing.
    [[nodiscard]] Beaten answered(const Reply& reply, SteadyTime sent, SteadyTime now);
    // Notes the store's time in any reply to a call that was sent after `sent`.
    void note_time(const Reply& reply, SteadyTime sent, SteadyTime now);

  private:
    [[nodiscard]] Duration between_beats() const noexcept;
    // Returns since when all that was granted is known, as a time of the store's, in ms.
    [[nodiscard]] std::int64_t base(SteadyTime now, std::int64_t elapsed) const;
    [[nodiscard]] bool is_valid(SteadyTime now) const noexcept {
        return state_ == SessionState::active && now < ends_at_;
    }

    SessionTerms terms_;
    SessionState state_ = SessionState::unknown;
    std::string epoch_ = "0";  // "0": none yet
    bool was_active_ = false;  // at any time, so that it may have held shares
    bool came_unheld_ = false; // into this epoch: it had not been active before
    bool learned_ = false;
    Duration quiet_span_{-1};
    // All is known that was granted since so long before `base_at_`; ms. At least so long: a later
    // base is the safe one.
    std::int64_t base_age_ = 0;
    SteadyTime base_at_{};                  // when the reply with it came
    std::int64_t members_ = 0;              // version of the member list that is known
    std::string member_list_;               // "session:gateway session:gateway"
    std::int64_t longest_time_to_live_ = 0; // in ms, over all sessions that live
    std::int64_t beats_ = 0;                // how many were made
    std::int64_t store_time_ = -1;          // ms, the latest that was told; -1: none
    SteadyTime store_time_at_{};            // when the reply with it came
    SteadyTime ends_at_{};
    SteadyTime next_beat_{};
    SteadyTime beat_at_{};     // when the latest was sent
    SteadyTime answered_at_{}; // when the latest was sent that is answered
    std::optional<SteadyTime> unanswered_since_;
};

} // namespace stint::shared
