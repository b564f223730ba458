// Finds out all the time which of several servers is the primary, by what others say.
#pragma once

#include "net/types.hpp"
#include "redis/host_port.hpp"
#include "redis/voter.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::redis {

// Used on the executor's thread.
class PrimaryWatch {
  public:
    // Told from the event loop, never from within a call to the watch. May not destroy it.
    class Watcher {
      public:
        // A voter has answered, or its connection has ended.
        virtual void on_voters() = 0;

      protected:
        ~Watcher() = default;
    };

    // How often voters are asked, and for how long a word counts, from its question on.
    struct Times {
        Duration interval = {};
        Duration validity = {};
    };

    // watcher: outlives this object.
    PrimaryWatch(const net::Executor& executor, const Times& times, Watcher& watcher);
    virtual ~PrimaryWatch();
    PrimaryWatch(const PrimaryWatch&) = delete;
    PrimaryWatch& operator=(const PrimaryWatch&) = delete;

    // Returns the primary that a majority names now.
    [[nodiscard]] virtual std::optional<HostPort> primary(SteadyTime now) const = 0;
    // Returns why there is none: "no majority of 3 Sentinels names a primary of mymaster (1 have
    // answered): 10.0.0.2:26379: connection refused".
    [[nodiscard]] virtual std::string failure(SteadyTime now) const = 0;
    // Returns who the voters are, for people: "the Sentinels".
    [[nodiscard]] virtual std::string_view voters() const noexcept = 0;
    [[nodiscard]] virtual std::vector<VoterState> state() const = 0;
    // Asks all voters at once. anew: those whose answer is on its way are asked once more after it.
    virtual void ask_all(bool anew) = 0;

    // Notes the primary that was found by this watch and is connected to now.
    void follow(HostPort primary) { followed_ = std::move(primary); }
    // True while a majority names the primary that is followed. A server that has been replaced may
    // not know it yet: this tells it within the validity of the words.
    [[nodiscard]] bool confirms(SteadyTime now) const;

    // Calls `done` once, from the event loop, with the next answer of a voter. It replaces a former
    // function; an empty one ends the wait.
    void await_answer(std::function<void()> done) { waiting_ = std::move(done); }

  protected:
    [[nodiscard]] SteadyTime valid_since(SteadyTime now) const { return now - times_.validity; }
    void answered(); // for on_voter()

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    void ask_again_later();

    const Times times_;
    Watcher& watcher_;
    std::optional<HostPort> followed_;
    std::function<void()> waiting_;
    Timer timer_;
    // Gone with this object: a timer that has expired may still be pending on the event loop.
    const std::shared_ptr<PrimaryWatch*> self_ = std::make_shared<PrimaryWatch*>(this);
};

} // namespace stint::redis
