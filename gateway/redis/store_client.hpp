// A store on one Redis server: calls of one script, and messages. Survives the server's restarts.
#pragma once

#include "base/time.hpp"
#include "redis/address_source.hpp"
#include "redis/failure.hpp"
#include "redis/link.hpp"
#include "redis/server_facts.hpp"
#include "redis/set_up.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::redis {

// The state of a store, for people.
struct StoreState {
    bool up = false;             // calls are sent
    std::string address = {};    // the server's; empty without a connection
    SteadyTime up_since = {};    // valid if up
    Duration round_trip = {};    // the last reply's
    std::uint64_t times_up = 0;  // how often it has come up
    int failures = 0;            // attempts and connections that have failed, since the last result
    std::string last_error = {}; // the last reason why it is or was down, or a channel was refused
    SteadyTime last_error_at = {};
};

// Everything happens on the executor's thread: the store's. A handler is called once for each call,
// from the event loop, never from within call(), and not after the destructor; it may destroy the
// client.
//
// A connection is up once the server has answered the handshake, loaded the script and told its
// facts. While none is up every call fails at once: a dead server costs a connect at a time, with
// longer and longer pauses, and no caller waits for it. Failures of calls do not count against the
// server, but for two: one without a reply in time ends the connection, and so does a server that
// turns out to be a replica. The next connection then asks the AddressSource.
class StoreClient final : private Link::User {
  public:
    // Told of changes. Must not destroy the client.
    class Watcher {
      public:
        // The store is up. Messages of channels may have been lost since it was up last.
        virtual void on_up(const ServerFacts& facts) = 0;
        // The store was up and is down, or another attempt has failed.
        virtual void on_down(const Failure& why) = 0;

      protected:
        ~Watcher() = default;
    };
    using MessageHandler = std::function<void(std::string_view payload)>;

    // Begins to connect. script: Lua, run by each call(). watcher: outlives this object.
    StoreClient(
        const net::Executor& executor,
        LinkSettings settings,
        std::unique_ptr<AddressSource> addresses,
        std::string script,
        Watcher& watcher);
    ~StoreClient();
    StoreClient(const StoreClient&) = delete;
    StoreClient& operator=(const StoreClient&) = delete;

    // Runs the script. The handler gets its result, or a failure; an error of the server is a
    // failure (failure_of()). A script that the server has forgotten is loaded again.
    void call(
        std::span<const std::string_view> keys,
        std::span<const std::string_view> arguments,
        ReplyHandler handler);

    // Subscribes to a channel on this connection and all later ones. One handler for each channel.
    void subscribe(std::string channel, MessageHandler handler);

    // Gives the server up for another address that the AddressSource knows now. why: for people.
    void change_address(std::string why) { calls_->change_address(std::move(why)); }

    [[nodiscard]] bool up() const noexcept { return up_; }
    // Returns what the server has said when it came up last; empty before the first time.
    [[nodiscard]] const ServerFacts& facts() const noexcept { return facts_; }
    [[nodiscard]] StoreState state() const;

  private:
    void on_link_ready(Link& link) override;
    void on_link_message(const Value& message) override;
    void on_link_down(Link& link, const Failure& why) override;

    // Coming up
    void come_up();
    void subscribe_all(Connection& connection);
    void subscribe(Connection& connection, const std::string& channel);
    [[nodiscard]] std::unique_ptr<Link> make_link(std::unique_ptr<AddressSource> addresses);
    void open_message_link(const Address& address);

    // Calls
    void send(std::string command, ReplyHandler handler, bool again);
    void on_reply(std::string command, const ReplyHandler& handler, bool again, Reply reply);
    [[nodiscard]] Failure down() const;
    void refuse(ReplyHandler handler, Failure failure);
    void answer_refused();

    void note_error(const std::string& text);

    const net::Executor executor_;
    const LinkSettings settings_;
    SetUp set_up_; // outlives calls_
    Watcher& watcher_;
    std::map<std::string, MessageHandler, std::less<>> channels_;
    ServerFacts facts_;
    StoreState state_;
    bool up_ = false;
    std::vector<std::pair<ReplyHandler, Failure>> refused_; // to be answered in the next turn
    std::unique_ptr<Link> messages_; // the channels' with RESP2, where they need their own
    std::unique_ptr<Link> calls_;
    // Gone with this object: a function that is posted may still be pending on the event loop.
    const std::shared_ptr<StoreClient*> self_ = std::make_shared<StoreClient*>(this);
};

} // namespace stint::redis
