// Asks several Sentinels all the time which server is the primary.
#pragma once

#include "redis/link.hpp"
#include "redis/sentinel_votes.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stint::redis {

struct SentinelWatchSettings {
    std::string master = {};            // "mymaster"
    std::vector<HostPort> servers = {}; // the Sentinels; not empty
    std::string server_name = {};       // that their certificates must be for; empty: the host
    LinkSettings link = {};             // to each of them
    Duration interval = {};             // between two questions to each
    Duration validity = {};             // how long a word counts, from its question on
};

// The state of one Sentinel, for people.
struct SentinelState {
    std::string address = {}; // "10.0.0.1:26379", as configured
    bool up = false;          // it is connected
    std::string names = {};   // the primary by its latest word, which may be old
    Duration down_after = {}; // see SentinelWord
    std::string error = {};   // the last reason why it gave none; empty: its latest word is one
};

// Used on the executor's thread. Keeps one connection to each Sentinel, asks on it, and listens to
// what the Sentinel publishes: after a switch all are asked at once.
class SentinelWatch {
  public:
    // Told from the event loop, never from within a call to the watch. May not destroy it.
    class Watcher {
      public:
        // A Sentinel has answered, or its connection has ended.
        virtual void on_sentinels() = 0;

      protected:
        ~Watcher() = default;
    };

    // Begins to ask. watcher: outlives this object.
    SentinelWatch(const net::Executor& executor, SentinelWatchSettings settings, Watcher& watcher);
    ~SentinelWatch();
    SentinelWatch(const SentinelWatch&) = delete;
    SentinelWatch& operator=(const SentinelWatch&) = delete;

    // Returns the primary that a majority of the Sentinels names now.
    [[nodiscard]] std::optional<HostPort> primary(SteadyTime now) const;
    // Returns why there is none: "1 of 3 Sentinels names a primary of mymaster: 10.0.0.2:26379:
    // connection refused".
    [[nodiscard]] std::string failure(SteadyTime now) const;
    [[nodiscard]] std::vector<SentinelState> state() const;

    // Notes the primary that was found by this watch and is connected to now.
    void follow(HostPort primary) { followed_ = std::move(primary); }
    // True while a majority names the primary that is followed. A server that has been replaced may
    // not know it yet: this tells it within the validity of the words.
    [[nodiscard]] bool confirms(SteadyTime now) const;

    // Calls `done` once, from the event loop, with the next answer of a Sentinel. It replaces a
    // former function; an empty one ends the wait.
    void await_answer(std::function<void()> done) { waiting_ = std::move(done); }

  private:
    class Sentinel;
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    void ask_all(bool anew);
    void ask_again_later();
    void answered();

    const SentinelWatchSettings settings_;
    Watcher& watcher_;
    SentinelVotes votes_;
    std::optional<HostPort> followed_;
    std::function<void()> waiting_;
    Timer timer_;
    std::vector<std::unique_ptr<Sentinel>> sentinels_; // go first
    // Gone with this object: a timer that has expired may still be pending on the event loop.
    const std::shared_ptr<SentinelWatch*> self_ = std::make_shared<SentinelWatch*>(this);
};

} // namespace stint::redis
