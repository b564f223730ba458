// A gateway's part in one counter that gateways share: the share that it holds, and the demand of
// its clients. Pure: no I/O, no clock.
#pragma once

#include "base/time.hpp"
#include "shared/share_units.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace stint::shared {

// The kind of message that other gateways have sent about a counter: the highest of several.
enum class Heard : std::uint8_t { nothing, wants, gives };

// The demand that goes beyond the share.
class Wants {
  public:
    [[nodiscard]] bool go_on(SteadyTime now) const noexcept { return now < until_; }
    // Returns until when more of them are expected.
    [[nodiscard]] SteadyTime until() const noexcept { return until_; }
    [[nodiscard]] SteadyTime latest() const noexcept { return latest_; }
    // True if the latest has come while others went on.
    [[nodiscard]] bool lasting() const noexcept { return lasting_; }
    // Returns the least cost of the latest ones, or that of the first request that waits.
    [[nodiscard]] std::uint64_t cost() const noexcept { return cost_; }

    // Notes what a want costs. Call before note().
    void note_cost(std::uint64_t cost, SteadyTime at) noexcept;
    // Notes a want, after which others are expected for so long. told: the store was told that
    // demand goes on, and not yet that it is over.
    void note(SteadyTime at, Duration memory, bool told) noexcept;
    // Notes that a request waits for so much.
    void note_waiting(std::uint64_t cost) noexcept { cost_ = cost; }
    void expect_until(SteadyTime end) noexcept { until_ = std::max(until_, end); }

  private:
    SteadyTime latest_{};
    SteadyTime until_{};
    bool lasting_ = false;
    std::uint64_t cost_ = 1;
    SteadyTime cost_at_{}; // the time of that one
};

// Shares are in units: of a token bucket the lesser of quota and burst, else the quota. Not
// thread-safe.
struct ShareCounter {
    SharedCounter of;
    std::string name;             // its key in the store
    std::uint64_t share = 0;      // that may be used
    std::uint64_t held = 0;       // that the store counts for this gateway, at least
    std::uint64_t call = 0;       // the call on its way; 0: none
    std::uint64_t number = 0;     // the whole limit's, as the store keeps it
    std::uint64_t proposed = 0;   // the number that the store has heard of this gateway last
    std::uint64_t part = 0;       // this gateway's fair part, by the latest reply
    bool others_lack = false;     // another gateway lacked some, by the latest reply
    bool told = false;            // the latest reply was of this epoch
    Heard heard = Heard::nothing; // while a call was on its way
    bool unasked = false;         // wanted, and no call on its way asks for it
    bool left = false;            // given up for good, and the store knows
    std::uint64_t told_want = 0;  // with the latest call
    bool told_demand = false;     // the latest call told that demand goes on
    Wants wants;
    SteadyTime used_at{};     // latest sight of any use
    SteadyTime ask_after{};   // the store has no more before, by its reply
    Duration backoff{};       // how long ask_after was put off
    SteadyTime retry_after{}; // a call has failed: no other before
    Duration retry_pause{};   // how long retry_after was put off
    SteadyTime synced_at{};   // the latest reply
    Duration look_pause{};    // the latest, between two looks that others do not wait for
    SteadyTime recall_at = SteadyTime::max(); // when to follow others' messages
    SteadyTime gifts_by{}; // when others have given up their unused units, after a recall
    // Wants wait until then for what another gateway is to give up; zero: none does.
    SteadyTime answer_by{};
    SteadyTime refresh{}; // latest time to tell the store again, so that it keeps the counter
    SteadyTime due{};     // when to look again

    // Returns the units of the whole limit, of which `share` is a part.
    [[nodiscard]] std::uint64_t whole() const noexcept;
    [[nodiscard]] limits::Numbers numbers(std::uint64_t units) const noexcept;
    [[nodiscard]] std::uint64_t capacity(std::uint64_t units) const noexcept;
    [[nodiscard]] std::uint64_t in_use(const Now& now) const;
    // Returns what the store has to hold for this gateway with a share of so many units: those, and
    // what was used of a larger one and still counts: of fixed windows, two of which may lie in the
    // span that counts, at most the former share. A token bucket keeps all that is held until its
    // debt is no more than the new burst.
    [[nodiscard]] std::uint64_t hold_with(std::uint64_t units, const Now& now) const;
    // Returns the parts of a token bucket whose burst is what is owed, of those that are held: they
    // pay it off in the time in which a whole bucket fills.
    [[nodiscard]] std::uint64_t hold_of_debt(const Now& now) const;
    // True if the share has no room for any of the wants.
    [[nodiscard]] bool is_used_up(const Now& now) const;
    [[nodiscard]] bool in_demand(SteadyTime now) const noexcept { return wants.go_on(now); }
    [[nodiscard]] bool is_idle(SteadyTime now) const;
    // Returns how many units to hold. Demand that lasts wants all there is: the store divides it.
    // Demand that has just begun wants what is in use and an eighth of the number: that is enough
    // for a key with few requests, and no gateway has to give up any for it. Without demand: what
    // is in use, and one more or an eighth.
    [[nodiscard]] std::uint64_t want(const Now& now) const;
    // True if the demand lasts, given that wants go on.
    [[nodiscard]] bool lasts() const;
    // True if the latest call has asked for all there is.
    [[nodiscard]] bool told_whole() const noexcept { return told_want >= whole(); }
    // Returns the least share that admits one of the wants that go on; 0: none does.
    [[nodiscard]] std::uint64_t need(SteadyTime now) const noexcept;
    // True if the gateway wants clearly less than it told: others get more if they know.
    [[nodiscard]] bool has_shrunk(const Now& now) const;
    // True if requests wait for more, which do not ask by themselves, and the store may have it.
    [[nodiscard]] bool is_awaited(SteadyTime now) const;
    [[nodiscard]] bool awaits_recall() const noexcept { return answer_by != SteadyTime{}; }
    [[nodiscard]] SteadyTime next_look(SteadyTime now) const;
    // Returns the time until the next look at a share in whose use nothing has changed.
    [[nodiscard]] Duration pause_looks();

    // Notes a want. If demand begins anew, the store is asked whatever it has said.
    void note_want(SteadyTime at);
    // Notes the wants that the limit has seen since: those that were not told, because the store
    // has no more for now; and those of requests that wait.
    void note_demand(const Now& now);
    // Takes the number by which the store counts. If units are parts of it, the share is as large
    // as before, or a little smaller.
    void take_number(std::uint64_t of_store) noexcept;
    // Notes the store's reply to the call: whether it brought more. time_to_live: of the session.
    void note_reply(bool grew, Duration time_to_live, SteadyTime now);
    // Notes a reply that has brought units, or else a recall of units that others hold.
    void note_recall(bool grew, SteadyTime now);
    // Notes that the store gives nothing to any gateway yet: it cannot say that there is no more.
    void note_silence(Duration time_to_live, SteadyTime now);
    void note_failure(Duration time_to_live, SteadyTime now);
};

} // namespace stint::shared
