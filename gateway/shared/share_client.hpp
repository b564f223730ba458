// A gateway's part in shared limits: which share it holds of each counter, when it wants more, and
// what it gives up. Pure: no I/O, no clock.
#pragma once

#include "base/time.hpp"
#include "limits/limit.hpp"
#include "shared/call.hpp"
#include "shared/session.hpp"
#include "shared/share_units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stint::shared {

// Listens for shares that grow, for requests that wait.
class ShareListener {
  public:
    virtual void share_grew(const std::string& /*counter*/) {}

  protected:
    ~ShareListener() = default;
};

// Not thread-safe; thread: the store's. Sets the shares of the limits (Limit::set_share()).
class ShareClient {
  public:
    ShareClient(SessionTerms terms, Transport& transport, ShareListener& listener);
    ShareClient(const ShareClient&) = delete;
    ShareClient& operator=(const ShareClient&) = delete;

    [[nodiscard]] const Session& session() const noexcept { return session_; }
    // Begins a new session in place of one that is dead. Nothing is held any more.
    void begin(SessionTerms terms, const Now& now);

    // Wants `cost` of the counter, for which the share has no room. name: the counter's key in the
    // store. True if the store is being asked.
    bool want(const std::string& name, const SharedCounter& of, std::uint64_t cost, const Now& now);
    // Takes a message that the store has published: a gateway wants a part of a counter, or has
    // given one up. "SESSION NAME".
    void recall(std::string_view message, const Now& now);

    // Sends what is due, and gives up calls that were not answered in time. Returns when to call it
    // next.
    SteadyTime tick(const Now& now);
    void answered(std::uint64_t call, const Reply& reply, const Now& now);
    void failed(std::uint64_t call, const Now& now);

    // Gives up everything that is not in use. True once the store knows, and the session may be
    // ended; call it after each tick() until then.
    bool leave(const Now& now);

    // Returns how many units of the counter this gateway may use.
    [[nodiscard]] std::uint64_t share(const std::string& name) const;
    [[nodiscard]] std::size_t counters() const noexcept { return counters_.size(); }

  private:
    // One counter's share, in units: of a token bucket the lesser of quota and burst, else the
    // quota.
    struct Counter {
        SharedCounter of;
        std::string name;
        std::uint64_t share = 0;     // that may be used
        std::uint64_t held = 0;      // that the store counts for this gateway, at least
        std::uint64_t seq = 0;       // the latest call's
        std::uint64_t call = 0;      // the call on its way; 0: none
        std::uint64_t number = 0;    // the whole limit's, as the store keeps it
        std::uint64_t part = 0;      // this gateway's fair part, by the latest reply
        bool others_lack = false;    // another gateway lacked some, by the latest reply
        bool told = false;           // the latest reply was of this epoch
        bool again = false;          // recalled while a call was on its way
        std::uint64_t told_want = 0; // with the latest call
        bool wants_all = false;      // the latest call wanted all there is
        SteadyTime wanted_at{};      // latest want()
        SteadyTime demand_until{};   // until then more wants are expected
        SteadyTime used_at{};        // latest sight of any use
        SteadyTime ask_after{};      // want() does not ask the store before
        Duration backoff{};          // how long ask_after was put off
        SteadyTime synced_at{};      // the latest reply
        SteadyTime recall_at = SteadyTime::max(); // when to follow others' messages
        SteadyTime refresh{}; // latest time to tell the store again, so that it keeps the counter
        SteadyTime due{};     // when to look again
    };
    struct Sent {
        Counter* counter; // null: a beat, or the end of the session
        SteadyTime at{};
        std::uint64_t hold = 0;
    };
    struct ByDue {
        bool operator()(const Counter* a, const Counter* b) const noexcept {
            return a->due != b->due ? a->due < b->due : a->name < b->name;
        }
    };

    [[nodiscard]] Counter& counter_of(const std::string& name, const SharedCounter& of);
    void forget(Counter& counter, const Now& now);
    void schedule(Counter& counter, SteadyTime due);
    void use_share(Counter& counter, std::uint64_t share, const Now& now);
    [[nodiscard]] std::uint64_t hold_for(Counter& counter, std::uint64_t share, const Now& now);
    [[nodiscard]] std::uint64_t in_use(const Counter& counter, const Now& now) const;
    [[nodiscard]] std::uint64_t want_of(const Counter& counter, const Now& now) const;
    [[nodiscard]] bool has_shrunk(const Counter& counter, const Now& now) const;
    [[nodiscard]] static SteadyTime next_look(const Counter& counter);
    void recall_at(Counter& counter, SteadyTime when);
    void look_after(Counter& counter, const Now& now);
    void sync(Counter& counter, std::uint64_t share, const Now& now);
    void synced(Counter& counter, const Reply& reply, const Sent& sent, const Now& now);
    void take_grant(Counter& counter, const Reply& reply, const Sent& sent, const Now& now);
    void send_beat(const Now& now);
    void beaten(const Session::Beaten& beaten, const Now& now);
    void lose_shares(const Now& now);
    std::uint64_t send(std::string name, std::vector<std::string> arguments, const Sent& sent);

    Session session_;
    Transport& transport_;
    ShareListener& listener_;
    std::unordered_map<std::string, Counter> counters_; // by name
    std::set<Counter*, ByDue> due_;
    std::map<std::uint64_t, Sent> sent_; // by the call's number, which rises with time
    std::map<limits::Limit*, limits::LimitPtr> limits_;
    std::uint64_t last_call_ = 0;
    std::size_t untold_ = 0; // counters that are not told
    bool leaving_ = false;
};

} // namespace stint::shared
