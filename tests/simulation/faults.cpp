// What goes wrong in a simulation.
#include "simulated_gateway.hpp"

namespace stint::shared {

using namespace std::chrono_literals;

// What the store has not replicated is lost; another one serves.
void Simulation::promote(bool other_clock) {
    fail_over();
    if (other_clock) {
        store_offset_ += between(-3s, 3s);
        store_rate_ = 1 + (static_cast<double>(below(17)) - 8) / 100;
    }
    store_down_until_ = now_ + (chance(0.5) ? between(0ms, 300ms) : between(0ms, 1500ms));
}

// In some schedules a gateway has another one's name, and in some all reload one by one. By random
// numbers of their own, so that the other schedules stay what they were.
void Simulation::clone_and_reload() {
    std::mt19937_64 random{terms_.seed + 0x9e3779b97f4a7c15};
    if (random() % 8 == 0)
        gateways_.back()->name = 0;
    if (terms_.other_number == terms_.number && terms_.other_burst == 0)
        return;
    Instant when = static_cast<Instant>(random() % 4'000'000'000);
    for (const auto& gateway : gateways_) {
        at(when, [this, index = gateway->index] {
            reload(index, terms_.other_number, terms_.other_burst);
        });
        when += static_cast<Instant>(random() % 400'000'000);
    }
}

// Faults come alone, or several at about the same time.
void Simulation::faults() {
    constexpr Duration longest_burst = 200ms; // of those that come at about the same time
    if (terms_.faults_for > 0ns && now_ >= (terms_.faults_for - longest_burst).count())
        return;
    const std::uint64_t count = 1 + below(4);
    for (std::uint64_t i = 0; i < count; ++i)
        at(now_ + between(0ms, 120ms), [this] { fault(); });
    at(now_ + between(300ms, 2s), [this] { faults(); });
}

void Simulation::fault() {
    Gateway& gateway = *gateways_[below(gateways_.size())];
    if (terms_.sentinels > 0 && chance(0.3)) {
        for (Instant& until : gateway.no_sentinel_until)
            until = chance(0.6) ? now_ + between(200ms, 4s) : until;
        return note("g" + std::to_string(gateway.index) + " is cut off from Sentinels");
    }
    switch (below(12)) {
    case 0:
    case 1:
        promote(true);
        break;
    case 2:
        promote(false); // a restart
        break;
    case 3:
        flush();
        break;
    case 4:
        store_offset_ += chance(0.3) ? between(-2h, 2h) : between(-3s, 3s);
        note("the store's clock steps");
        break;
    case 5:
        gateway.paused_until = now_ + between(0ms, 2s);
        note("g" + std::to_string(gateway.index) + " is paused");
        break;
    case 6:
        gateway.cut_until = now_ + between(200ms, 2500ms);
        note("g" + std::to_string(gateway.index) + " is cut off");
        break;
    case 7:
        if (gateway.life != 0)
            stop(gateway);
        else
            start(gateway.index);
        break;
    case 8:
        if (gateway.life != 0) {
            gateway.leaving = true;
            note("g" + std::to_string(gateway.index) + " leaves");
        } else {
            start(gateway.index);
        }
        break;
    case 9:
        gateway.slow_until = now_ + between(0ms, 1s);
        break;
    case 10:
        store_down_until_ = now_ + between(0ms, 1500ms);
        note("the store is down");
        break;
    default:
        if (gateway.life == 0)
            start(gateway.index);
        break;
    }
}

} // namespace stint::shared
