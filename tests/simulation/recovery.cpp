// The end of all faults in a simulation.
#include "simulated_gateway.hpp"

namespace stint::shared {

using namespace std::chrono_literals;

void Simulation::end_faults() {
    note("the faults end");
    store_down_until_ = now_;
    for (const auto& gateway : gateways_) {
        gateway->paused_until = std::min(gateway->paused_until, now_ + 1);
        gateway->cut_until = now_;
        gateway->slow_until = now_;
        gateway->busy_times = {{0, 0}};
    }
    const auto start_all = [this]() {
        for (const auto& gateway : gateways_)
            if (gateway->life == 0)
                start(gateway->index);
    };
    at(now_ + 1, start_all);
    at(now_ + Instant{3'000'000'000}, start_all); // those that were leaving
    at(now_ + Instant{8'000'000'000}, [this] {
        for (const auto& gateway : gateways_)
            if (gateway->life != 0 && !gateway->leaving &&
                gateway->client->session().state() == SessionState::active &&
                (outcome_.remaining < 0 || below(2) == 0))
                outcome_.remaining = gateway->index;
        if (outcome_.remaining >= 0)
            busy(outcome_.remaining, now_, terms_.length.count());
    });
}

} // namespace stint::shared
