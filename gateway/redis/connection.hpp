// One connection to one Redis server: pipelined commands, and messages that answer none.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "net/types.hpp"
#include "redis/failure.hpp"
#include "redis/handshake.hpp"
#include "redis/resp/parser.hpp"
#include "redis/resp/value.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace stint::tls {
class Client;
} // namespace stint::tls

namespace stint::redis {

// Where a server is.
struct Address {
    net::Endpoint endpoint = {};  // TCP or Unix
    std::string text = {};        // for people: "redis.internal:6379"
    std::string server_name = {}; // the name or address that its certificate must be for
    // Calls need ASKING in front: the server takes a hash slot over from another one.
    bool asking = false;
};

struct ConnectionSettings {
    Login login = {};
    std::shared_ptr<const tls::Client> tls = {};        // null: without TLS
    Duration connect_timeout = std::chrono::seconds{3}; // with TLS and the handshake
    Duration reply_timeout = std::chrono::seconds{1};   // from send() to the whole reply
    Duration ping_after = std::chrono::seconds{5}; // a server that is silent for so long is asked
    std::size_t max_in_flight = 4096;              // commands without a reply
    std::size_t max_unsent = 4 * 1024 * 1024;      // bytes that the socket has not taken
    Bounds bounds = {};
};

// Not thread-safe: everything happens on the executor's thread. All callbacks come from the event
// loop, never from within a call to this class, and none comes once it is destroyed; a callback may
// destroy it.
class Connection {
  public:
    // Outlives the connection.
    class Owner {
      public:
        // The handshake is complete: commands may be sent.
        virtual void on_ready() = 0;
        // A message that answers no command, with items: "message", channel, payload. In RESP2 only
        // after subscribe().
        virtual void on_push(const Value& message) = 0;
        // The connection could not be made, or has ended; every command has been answered. The last
        // callback.
        virtual void on_end(const Failure& why) = 0;

      protected:
        ~Owner() = default;
    };

    // Begins to connect. settings: not null.
    Connection(
        const net::Executor& executor,
        Address address,
        std::shared_ptr<const ConnectionSettings> settings,
        Owner& owner);
    // Closes. No handler is called any more.
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Sends a command, as CommandWriter writes it; copies its bytes. Never waits: commands of one
    // turn of the event loop leave together. Replies come in order, and each handler is called
    // once: with the reply, or with a Failure when the connection ends. The result is a Failure,
    // and the handler is dropped uncalled, if the connection is not ready or a bound is reached.
    [[nodiscard]] Result<void, Failure> send(std::string_view command, ReplyHandler handler);

    // Subscribes to a channel, whose messages go to on_push(). The handler gets the server's
    // confirmation. From then on a RESP2 connection takes no other commands.
    [[nodiscard]] Result<void, Failure> subscribe(std::string_view channel, ReplyHandler handler);

    // Ends the connection as if it had broken, with a later turn of the event loop. what: the
    // reason.
    void give_up(std::string what);

    [[nodiscard]] bool ready() const noexcept;
    [[nodiscard]] const Address& address() const noexcept;

    // Valid from on_ready() on.
    [[nodiscard]] Protocol protocol() const noexcept;
    [[nodiscard]] SteadyTime ready_since() const noexcept;
    // Returns the time from the last reply's send() to the reply; zero before the first.
    [[nodiscard]] Duration round_trip() const noexcept;

  private:
    class Core;

    const std::shared_ptr<Core> core_; // operations of the event loop hold it, too
};

} // namespace stint::redis
