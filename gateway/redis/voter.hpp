// A server that is asked all the time which server is the primary: a Sentinel, or a node of a
// Cluster.
#pragma once

#include "base/time.hpp"
#include "redis/host_port.hpp"
#include "redis/link.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace stint::redis {

// The state of a voter, for people.
struct VoterState {
    std::string address = {}; // "10.0.0.1:26379"
    bool up = false;          // it is connected
    std::string names = {};   // the primary by its latest word, which may be old
    // How long a primary is silent before this voter takes it for down; zero: unknown.
    Duration down_after = {};
    std::string error = {}; // the last reason why it gave no word; empty: its latest word is one
};

// Used on the executor's thread. Keeps a connection to the server.
class Voter final : private Link::User {
  public:
    struct Question {
        std::string command = {}; // see command_of()
        // Takes the reply; returns why it is of no use; empty: it is.
        std::function<std::string(const Value&)> take = {};
    };
    // Told from the event loop, never from within a call to the voter. May not destroy it.
    class Owner {
      public:
        // All questions are answered, and all answers are of use. asked: when the first was sent.
        virtual void on_word(SteadyTime asked) = 0;
        // It has answered, also without a word, or its connection has ended.
        virtual void on_voter() = 0;
        // A message has come on the channel.
        virtual void on_voter_message() {}

      protected:
        ~Owner() = default;
    };

    // Begins to connect. certificate: the name that the server's must be for; empty: the host.
    // channel: to be listened to; empty: none. owner: outlives this object.
    Voter(
        const net::Executor& executor,
        const HostPort& server,
        const std::string& certificate,
        const LinkSettings& settings,
        std::vector<Question> questions,
        std::string channel,
        Owner& owner);

    // Asks, unless an answer is on its way. anew: then once more after that.
    void ask(bool anew);

    [[nodiscard]] const HostPort& server() const noexcept { return server_; }
    [[nodiscard]] bool up() const noexcept { return std::as_const(*link_).ready() != nullptr; }
    // Returns the last reason why it gave no word; empty: its latest answer is one.
    [[nodiscard]] const std::string& error() const noexcept { return told_error_; }

  private:
    void take(const Question& question, const Value& reply);
    void finish();

    void on_link_ready(Link& link) override;
    void on_link_message(const Value& message) override;
    void on_link_down(Link& link, const Failure& why) override;

    const HostPort server_;
    const std::vector<Question> questions_;
    const std::string channel_;
    Owner& owner_;
    bool asked_ = false; // an answer is on its way
    bool again_ = false; // to be asked once more after it
    SteadyTime asked_at_{};
    std::string error_; // in the answer to the questions that were sent last
    std::string told_error_;
    std::unique_ptr<Link> link_; // goes first
};

// Returns the voters' errors in one line: ": 10.0.0.2:26379: connection refused; ..."; empty: there
// are none.
[[nodiscard]] std::string errors_of(const std::vector<VoterState>& voters);

} // namespace stint::redis
