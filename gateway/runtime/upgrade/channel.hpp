// Messages with descriptors between the process that serves and the one that is to replace it.
#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stint::runtime {

// The number of the formats of all messages and of what State contains. A process hands over only
// to one of the same number: see Hello.
inline constexpr std::uint32_t hand_over_version = 2;

// The meaning of a message. The first six are the same in every version, but for the body of
// `state`.
enum class MessageKind : std::uint8_t {
    hello = 1,    // to the successor: the version
    sockets = 2,  // to the successor: listening sockets, in one message or more
    prepared = 3, // to the predecessor: 0, or 1 if the successor takes no state
    state = 4,    // to the successor: HandedState, if it takes that; the state file is closed
    taken = 5,    // to the predecessor: the successor has the state
    go = 6,       // to the successor: it decides from now on
    connection,   // to the successor: a server::HandedConnection
    all_given,    // to the successor: no connection follows whose request has waited longer
    given_back,   // to the successor: slots, or a part of a charge, of a request in flight
    paused        // to the successor: an upstream has asked for a pause
};

struct Message {
    MessageKind kind{};
    std::string body{};
    std::vector<Descriptor> descriptors{};
};

// One end of a pair. A message arrives whole. Used on one thread; its end closes it.
class Channel {
  public:
    // The most descriptors of one message.
    static constexpr std::size_t most_descriptors = 200;

    Channel() = default;
    explicit Channel(Descriptor socket) noexcept : socket_{std::move(socket)} {}
    [[nodiscard]] static Result<std::pair<Channel, Channel>> pair();

    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
    // Tells the other end that this one has gone, also while copies of the descriptor are open.
    void shut() const noexcept;
    // True if the other end has gone. It may have left messages.
    [[nodiscard]] bool peer_has_gone() const noexcept;
    // True if the other end is there, and has sent what was not received.
    [[nodiscard]] bool has_message() const noexcept;

    // Sends without waiting: the error is would_block if there is no room, and then the message
    // stays as it was. A message that the other end can never take (no memory) is another error.
    [[nodiscard]] ErrorCode send_now(const Message& message);
    // Returns the next message without waiting; would_block: there is none; eof: the other end has
    // gone.
    [[nodiscard]] Result<Message> receive_now();

    // The same, waiting for `most`: the error is then timed_out.
    [[nodiscard]] ErrorCode send(const Message& message, Duration most);
    [[nodiscard]] Result<Message> receive(Duration most);

  private:
    [[nodiscard]] ErrorCode wait(short events, SteadyTime until) const;
    [[nodiscard]] short events() const noexcept;

    Descriptor socket_;
};

} // namespace stint::runtime
