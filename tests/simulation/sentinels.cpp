// Schedules in which several servers act as primaries at the same time, with the Sentinels that
// gateways ask which one to use.
#include "simulated_gateway.hpp"

#include <algorithm>

namespace stint::shared {

using namespace std::chrono_literals;

// Runs the script at one of the primaries.
Reply Simulation::run_at(std::size_t primary, const Call& call) {
    if (primary >= formers_.size())
        return store_.run(call, store_clock());
    Former& former = formers_[primary];
    std::swap(store_.data, former.data);
    std::swap(store_.replication_id, former.replication_id);
    Reply answer = store_.run(call, store_clock());
    std::swap(store_.data, former.data);
    std::swap(store_.replication_id, former.replication_id);
    return answer;
}

// The primary goes on, and is followed by another one. One Sentinel has brought that about; the
// others are told at once, or after a while.
void Simulation::leave_former_primary() {
    formers_.push_back({store_.data, store_.replication_id});
    const std::size_t next = formers_.size();
    sentinel_names_[below(terms_.sentinels)] = next;
    for (std::size_t i = 0; i < terms_.sentinels; ++i)
        at(now_ + (chance(0.5) ? between(0ms, 50ms) : between(0ms, 4s)), [this, i, next] {
            sentinel_names_[i] = std::max(sentinel_names_[i], next);
            note("sentinel " + std::to_string(i) + " names " + std::to_string(next));
        });
}

void Simulation::ask_sentinels(Gateway& gateway) {
    const SteadyTime asked = gateway.now().steady;
    const auto ask = [&](std::size_t sentinel, std::size_t place) {
        const Instant there = now_ + delay(gateway);
        at(there, [this, &gateway, sentinel, place, asked] {
            const std::size_t named = sentinel_names_[sentinel];
            at(now_ + delay(gateway), [&gateway, sentinel, place, asked, named] {
                gateway.votes.note(
                    place,
                    {"s" + std::to_string(sentinel), {"", static_cast<std::uint16_t>(named)}, 0},
                    asked);
            });
        });
    };
    const auto reached = [&](std::size_t sentinel) {
        return now_ >= gateway.no_sentinel_until[sentinel] && now_ >= gateway.cut_until &&
               now_ >= gateway.paused_until;
    };
    gateway.believes %= terms_.sentinels;
    if (!terms_.majority && reached(gateway.believes))
        ask(gateway.believes, 0);
    else if (!terms_.majority)
        ++gateway.believes;
    for (std::size_t i = 0; terms_.majority && i < terms_.sentinels; ++i)
        if (reached(i))
            ask(i, i);
    at(now_ + terms_.time_to_live.count() / 32, [this, &gateway] { ask_sentinels(gateway); });
}

} // namespace stint::shared
