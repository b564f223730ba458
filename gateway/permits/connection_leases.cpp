#include "permits/connection_leases.hpp"

#include "net/clock.hpp"

#include <algorithm>

namespace stint::permits {

ConnectionLeases::~ConnectionLeases() {
    if (leases_.empty() && sending_.empty())
        return;
    const Now now = net::read_clocks();
    book_.end_for_connection(leases_, number_, now);
    for (const Sending& each : sending_)
        if (!each.bound)
            book_.withdraw(each.lock, each.grant, now);
}

void ConnectionLeases::add(Hash128 lease) {
    if (std::ranges::find(leases_, lease) != leases_.end())
        return;
    if (leases_.size() >= look_from_)
        forget_ended();
    leases_.push_back(lease);
}

void ConnectionLeases::remove(Hash128 lease) noexcept {
    std::erase(leases_, lease);
}

bool ConnectionLeases::any() {
    forget_ended();
    return !leases_.empty();
}

// Forgets leases that ended by themselves, or are bound to another connection by now.
void ConnectionLeases::forget_ended() {
    const Now now = net::read_clocks();
    std::erase_if(leases_, [&](Hash128 id) { return !book_.is_bound(id, number_, now); });
    look_from_ = std::max<std::size_t>(16, 2 * leases_.size());
}

void ConnectionLeases::send(
    std::string_view lock, const locks::Grant& grant, std::uint32_t stream, bool bound) {
    sending_.push_back({std::string{lock}, grant, stream, bound});
}

void ConnectionLeases::sent(std::uint32_t stream) noexcept {
    std::erase_if(sending_, [&](const Sending& each) { return each.stream == stream; });
}

void ConnectionLeases::unsent(std::uint32_t stream) noexcept {
    for (const Sending& each : sending_)
        if (each.stream == stream)
            book_.withdraw(each.lock, each.grant, net::read_clocks());
    sent(stream);
}

void ConnectionLeases::detach() noexcept {
    book_.detach(leases_, number_);
    leases_.clear();
    sending_.clear();
    detached_ = true;
}

} // namespace stint::permits
