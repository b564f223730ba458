// The part of a Connection that its pending operations keep alive.
#pragma once

#include "net/handler_memory.hpp"
#include "net/io.hpp"
#include "net/stream.hpp"
#include "redis/connection.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <cstdint>
#include <deque>
#include <vector>

namespace stint::redis {

// Each operation of the event loop (the coroutine that reads, the wait for room, the posted flush,
// the timer) holds a shared_ptr, and looks at `over_` when it resumes: nothing but memory is left
// of a connection then.
class Connection::Core : public std::enable_shared_from_this<Core> {
  public:
    Core(
        const net::Executor& executor,
        Address address,
        std::shared_ptr<const ConnectionSettings> settings,
        Owner& owner);

    void start();
    // Closes, and forgets the owner and all handlers.
    void drop() noexcept;

    [[nodiscard]] Result<void, Failure>
    send(std::string_view command, ReplyHandler handler, bool subscribes);

    void give_up(std::string what);

    [[nodiscard]] bool ready() const noexcept { return ready_ && !over_; }
    [[nodiscard]] const Address& address() const noexcept { return address_; }
    [[nodiscard]] Protocol protocol() const noexcept { return handshake_.protocol(); }
    [[nodiscard]] SteadyTime ready_since() const noexcept { return ready_since_; }
    [[nodiscard]] Duration round_trip() const noexcept { return round_trip_; }

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;
    struct Command {
        ReplyHandler handler; // none: a PING of our own
        SteadyTime at;        // when send() was called
        std::uint64_t begin;  // its place among all bytes of commands
        std::uint64_t end;
        bool subscribes;
    };

    static net::Task<> run(std::shared_ptr<Core> self);
    net::Task<> connect_and_read();
    net::Task<bool> connect();
    net::Task<bool> shake_hands();

    // Reading
    void take_in(std::string_view bytes);
    void deliver(Value value);
    void on_handshake(const Value& reply);
    void on_reply(Value value);
    void on_message(Value value);
    [[nodiscard]] bool is_message(const Value& value) const noexcept;

    // Writing
    void append(std::string_view command, ReplyHandler handler, bool subscribes);
    void flush();
    void await_room();

    // Time
    void arm();
    void on_timer();
    [[nodiscard]] SteadyTime due() const noexcept;

    void fail(Failure::Kind kind, const std::string& what);
    [[nodiscard]] Written written(const Command& command) noexcept;

    const Address address_;
    const std::shared_ptr<const ConnectionSettings> settings_;
    Owner* owner_; // null: dropped
    net::Stream stream_;
    Timer timer_;
    SteadyTime armed_for_ = SteadyTime::max();
    Handshake handshake_;
    ReplyParser parser_;
    net::HandlerMemory read_memory_;
    std::vector<char> input_;
    std::deque<Command> in_flight_;
    std::string queued_;         // bytes that no write has been offered
    std::string sending_;        // bytes that the pending write refers to
    net::Gather unsent_;         // the rest of sending_
    std::uint64_t accepted_ = 0; // bytes of commands, in all
    std::uint64_t taken_ = 0;    // bytes of them that the socket has taken
    SteadyTime begun_{};
    SteadyTime heard_{}; // when the server's last bytes came
    SteadyTime ready_since_{};
    Duration round_trip_{};
    bool ready_ = false;
    bool over_ = false;
    bool flush_posted_ = false;
    bool awaits_room_ = false;
    bool subscribes_ = false; // a subscription was asked for
};

} // namespace stint::redis
