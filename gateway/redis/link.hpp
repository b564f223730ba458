// A connection that is made again whenever it ends.
#pragma once

#include "base/time.hpp"
#include "redis/address_source.hpp"
#include "redis/backoff.hpp"
#include "redis/connection.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <memory>
#include <random>
#include <string>

namespace stint::redis {

struct LinkSettings {
    std::shared_ptr<const ConnectionSettings> connection = {}; // not null
    Duration first_pause = std::chrono::milliseconds{100};     // see Backoff
    Duration longest_pause = std::chrono::seconds{5};
};

// Not thread-safe. Tries one connection at a time, and pauses after each failure: longer and longer
// until note_success(), so that neither a dead server nor one that accepts and then does nothing
// costs much.
class Link final : private Connection::Owner {
  public:
    // Its callbacks come from the event loop, never from within a call to the link, and none comes
    // once it is destroyed; a callback may destroy it.
    class User {
      public:
        // The handshake is complete.
        virtual void on_link_ready(Link& link) = 0;
        virtual void on_link_message(const Value& message) = 0;
        // The connection has ended or could not be made; its commands have been answered. The next
        // attempt is arranged.
        virtual void on_link_down(Link& link, const Failure& why) = 0;

      protected:
        ~User() = default;
    };

    // Begins to connect. user: outlives the link.
    Link(
        const net::Executor& executor,
        LinkSettings settings,
        std::unique_ptr<AddressSource> addresses,
        User& user);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // Returns the connection if its handshake is complete, else null.
    [[nodiscard]] Connection* ready() noexcept;
    [[nodiscard]] const Connection* ready() const noexcept;

    // Notes that the server has done what it is for: pauses are short again.
    void note_success() noexcept { backoff_.reset(); }
    // Returns how often a connection has ended or could not be made since then.
    [[nodiscard]] int failures() const noexcept { return backoff_.failures(); }
    // Ends the connection, with a later turn of the event loop: its commands are answered, and
    // another address is tried. what: "READONLY ...".
    void give_up(std::string what);
    // The same, because the server has sent a call elsewhere: "MOVED ...", "ASK ...".
    void redirect(std::string what);
    // The same as give_up(), and the next attempt follows at once, also if none is under way now:
    // the address source knows of another address.
    void change_address(std::string what);

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    void on_ready() override { user_.on_link_ready(*this); }
    void on_push(const Value& message) override { user_.on_link_message(message); }
    void on_end(const Failure& why) override;
    void find();
    void pause_and_find();
    void find_after(Duration pause);

    const net::Executor executor_;
    const LinkSettings settings_;
    const std::unique_ptr<AddressSource> addresses_;
    User& user_;
    Backoff backoff_;
    std::minstd_rand random_;
    Timer timer_;
    std::unique_ptr<Connection> connection_;
    bool pauses_ = false;  // until the next attempt
    bool changes_ = false; // the next attempt follows at once
    // Gone with this object: a timer that has expired may still be pending on the event loop.
    const std::shared_ptr<Link*> self_ = std::make_shared<Link*>(this);
};

} // namespace stint::redis
