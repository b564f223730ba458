#include "proxy/turns.hpp"

#include "net/clock.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace stint::proxy {

Turn::Turn(Turns& turns) : Waiter{turns}, room_{turns.room()} {}

Turn::~Turn() {
    const Now now = net::read_clocks();
    room_.leave(*this, now);
    for (std::size_t i = 0; i < charges.size(); ++i)
        decision.permit.refund(i, now);
}

Turns::Turns(limits::WaitingRoom& room, net::Executor executor)
    : room_{room}, executor_{std::move(executor)} {}

void Turns::give_up(Turn& turn) noexcept {
    room_.leave(turn, net::read_clocks());
    if (turn.is_over || static_cast<const limits::InMailbox&>(turn).is_linked())
        return;
    over_.push_back(turn);
    post_tell();
}

void Turns::tell() noexcept {
    room_.collect(*this, over_);
    while (!over_.empty()) {
        Turn& turn = static_cast<Turn&>(over_.front());
        over_.pop_front();
        turn.is_over = true;
        turn.over.signal();
    }
}

void Turns::ring() noexcept {
    post_tell();
}

void Turns::post_tell() noexcept {
    try {
        net::asio::post(executor_, [this] { tell(); });
    } catch (const std::exception&) {
        // Out of memory: the next tick tells.
    }
}

} // namespace stint::proxy
