// Requests of one worker that wait for their turn before a limit, and how they hear of it.
#pragma once

#include "base/time.hpp"
#include "limits/waiting_room.hpp"
#include "net/event.hpp"
#include "net/types.hpp"
#include "routing/charges.hpp"

namespace stint::proxy {

class Turns;

// One request's wait. The exchange owns it and ends it before itself; until then the exchange's
// configuration keeps the limits alive that it waits for.
class Turn : public limits::Waiter {
  public:
    explicit Turn(Turns& turns);
    ~Turn(); // leaves the room; what it was given and nobody has taken goes back

    [[nodiscard]] limits::WaitingRoom& room() noexcept { return room_; }

    routing::Charges asked; // whom it counts against

    // co_await turn.over.wait() until is_over: it has been decided, or given up.
    net::Event over;
    bool is_over = false;

  private:
    limits::WaitingRoom& room_;
};

// One per worker. What is decided on any thread is collected and told on the worker's.
class Turns final : public limits::Mailbox {
  public:
    Turns(limits::WaitingRoom& room, net::Executor executor);
    ~Turns() = default;

    [[nodiscard]] limits::WaitingRoom& room() noexcept { return room_; }

    // The request's client has gone: its place is free at once, and it is over with the worker's
    // next turn of its loop, not within this call.
    void give_up(Turn& turn) noexcept;

    // Resumes all that are over. Called by ring() through the loop, and with every tick in case
    // there was no memory for that.
    void tell() noexcept;

  private:
    void ring() noexcept override;
    void post_tell() noexcept;

    limits::WaitingRoom& room_;
    net::Executor executor_;
    limits::Waiters over_; // the worker's own
};

} // namespace stint::proxy
