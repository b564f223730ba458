// A gateway's part in shared limits: which share it holds of each counter, when it wants more, and
// what it gives up. Pure: no I/O, no clock.
#pragma once

#include "base/time.hpp"
#include "shared/call.hpp"
#include "shared/session.hpp"
#include "shared/share_counter.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stint::shared {

// Told of the store's answers, from within the client's functions. Must not call them.
class ShareListener {
  public:
    // The call for the counter is over, and its wants are answered: the share may have grown.
    virtual void answered(const std::string& /*counter*/) {}
    // It is over without an answer.
    virtual void failed(const std::string& /*counter*/) {}
    // The session has changed: its state, or its end, which is the end of all shares
    // (SharePolicy::end_at()).
    virtual void session_moved() {}
    // The store has taken an operator's word (ShareClient::trust()), or has not.
    virtual void trusted(bool /*taken*/) {}

  protected:
    ~ShareListener() = default;
};

// The outcome of a want.
enum class Wanted : std::uint8_t {
    asked, // a call is on its way, and ShareListener gets its result
    told,  // the store has said that there is no more for now
    failed // the store cannot be asked now
};

// Not thread-safe; thread: the store's. Sets the shares of the limits (Limit::set_share()).
class ShareClient {
  public:
    ShareClient(SessionTerms terms, Transport& transport, ShareListener& listener);
    ShareClient(const ShareClient&) = delete;
    ShareClient& operator=(const ShareClient&) = delete;

    [[nodiscard]] const Session& session() const noexcept { return session_; }
    // Begins a new session in place of one that is dead. Nothing is held any more; calls on their
    // way fail.
    void begin(SessionTerms terms, const Now& now);

    // Wants `cost` of the counter, for which the share has no room; or fencing numbers, if those of
    // a lock run low. name: the counter's key in the store.
    Wanted
    want(const std::string& name, const SharedCounter& of, std::uint64_t cost, const Now& now);
    // Takes a message that the store has published: a gateway wants a part of a counter, or has
    // given one up. "wants SESSION NAME", "gives SESSION NAME".
    void recall(std::string_view message, const Now& now);

    // Sends what is due, and gives up calls that were not answered in time. Returns when to call it
    // next.
    SteadyTime tick(const Now& now);
    void answered(std::uint64_t call, const Reply& reply, const Now& now);
    void failed(std::uint64_t call, const Now& now);

    // Gives up everything that is not in use, then ends the session. True once the store knows;
    // call it after each tick() until then.
    bool leave(const Now& now);
    // Tells the store to trust its records, on an operator's word: it then gives shares at once,
    // also if it is new. The call is repeated once if the store has begun an epoch that this
    // session has not joined. ShareListener gets the result. False: there is no active session.
    bool trust(const Now& now);
    // Ends the use of all shares at once, without a word to the store. Calls on their way fail.
    void drop_shares(const Now& now);

    // Returns how many units of the counter this gateway may use.
    [[nodiscard]] std::uint64_t share(const std::string& name) const;
    [[nodiscard]] bool knows(const std::string& name) const { return counters_.contains(name); }
    [[nodiscard]] std::size_t counters() const noexcept { return counters_.size(); }
    // True if the store has just given nothing of a counter to any gateway, as it may have
    // forgotten what they hold.
    [[nodiscard]] bool withholds(SteadyTime now) const noexcept { return now < withheld_until_; }

  private:
    struct Sent {
        ShareCounter* counter; // null: a beat, or the end of the session
        SteadyTime at{};
        std::uint64_t hold = 0;
        std::uint64_t number = 0;
        Duration span{};
        bool gives_up = false; // all of the share, as the gateway leaves
        bool ends_session = false;
        bool trusts = false;
    };
    struct ByDue {
        bool operator()(const ShareCounter* a, const ShareCounter* b) const noexcept {
            return a->due != b->due ? a->due < b->due : a->name < b->name;
        }
    };

    [[nodiscard]] ShareCounter& counter_of(const std::string& name, const SharedCounter& of);
    void take_report(ShareCounter& counter);
    void forget(ShareCounter& counter, const Now& now);
    void schedule(ShareCounter& counter, SteadyTime due);
    void use_share(ShareCounter& counter, std::uint64_t share, const Now& now);
    [[nodiscard]] std::uint64_t
    hold_for(ShareCounter& counter, std::uint64_t share, const Now& now);
    void recall_at(ShareCounter& counter, SteadyTime when);
    void follow(ShareCounter& counter, Heard heard, const Now& now);
    void look_after(ShareCounter& counter, const Now& now);
    void sync(ShareCounter& counter, std::uint64_t share, const Now& now);
    void synced(ShareCounter& counter, const Reply& reply, const Sent& sent, const Now& now);
    void take_grant(ShareCounter& counter, const Reply& reply, const Sent& sent, const Now& now);
    void begin_recall_wait(ShareCounter& counter, const Sent& sent, const Now& now);
    void end_recall_wait(ShareCounter& counter, const Now& now);
    void tell(const ShareCounter& counter, bool gives);
    void look_again(ShareCounter& counter, const Now& now);
    void give_up(ShareCounter& counter, const Now& now);
    void note_left(ShareCounter& counter);
    void session_ended(const Reply& reply, const Now& now);
    void trust_answered(const Reply& reply, const Now& now);
    void beaten(const Session::Beaten& beaten, SteadyTime ended, const Now& now);
    void lose_shares(SteadyTime ended, const Now& now);
    void slow_down(ShareCounter& counter, const Now& now);
    void
    take_leases(const ShareCounter& counter, const Reply& reply, const Sent& sent, bool overbooked);
    std::uint64_t send(std::string name, std::vector<std::string> arguments, const Sent& sent);

    Session session_;
    Transport& transport_;
    ShareListener& listener_;
    std::unordered_map<std::string, ShareCounter> counters_; // by name
    std::set<ShareCounter*, ByDue> due_;
    std::map<std::uint64_t, Sent> sent_; // by the call's number, which rises with time
    std::uint64_t last_call_ = 0;
    std::size_t untold_ = 0; // counters that are not told
    SteadyTime withheld_until_{};
    enum class Trust : std::uint8_t { no, first, in_next_epoch, second };
    Trust trust_ = Trust::no; // the call with an operator's word
    bool leaving_ = false;
    std::size_t to_leave_ = 0;     // counters that the store may still count for this gateway
    std::uint64_t leave_call_ = 0; // the call that ends the session; 0: none
    SteadyTime leave_after_{};     // when to make it
    bool left_ = false;
};

} // namespace stint::shared
