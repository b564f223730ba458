// Locks: slots that are leased. Gateways grant, renew and end leases as locks::LockManager does.
#include "simulated_gateway.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace stint::shared {
namespace {

using namespace std::chrono_literals;

} // namespace

// As locks::longest_lease().
Duration Simulation::longest_lease(const Gateway& gateway, int key) const {
    const limits::LimitPtr& limit = gateway.limits[static_cast<std::size_t>(key)];
    limits::SharePolicy& policy = limit->share_policy();
    const bool covered = uncovered_leases_ || policy.leases().covers(limit->in_flight());
    return policy.ended(gateway.now().steady) || !covered ? 0ns : policy.leases().longest_lease();
}

// A holder counts its lease from its own request on; clocks differ by 1 % in speed.
Instant Simulation::told_end(Duration lasts) const {
    return now_ + lasts.count() * 98 / 100;
}

void Simulation::grant_lease(Gateway& gateway, int key, limits::Permit permit) {
    const limits::LimitPtr limit = gateway.limits[static_cast<std::size_t>(key)];
    const Duration longest = longest_lease(gateway, key);
    if (longest <= 0ns)
        return;
    const auto fence = limit->share_policy().leases().next_fence();
    if (!fence)
        return want_fences(gateway, key);
    limit->raise_fence(*fence);
    const auto lease = std::make_shared<SimulatedLease>();
    lease->limit = limit;
    lease->permit = std::move(permit);
    lease->key = key;
    lease->life = gateway.life;
    lease->entry = outcome_.admitted.size();
    const Duration ttl = std::min<Duration>(longest, Duration{between(longest / 8, longest)});
    lease->expires = gateway.now().steady + ttl;
    Admission entry{now_, gateway.index, key, 0};
    entry.end = told_end(ttl);
    entry.fence = *fence;
    outcome_.admitted.push_back(entry);
    note(
        "g" + std::to_string(gateway.index) + " grants a lease with " + std::to_string(*fence) +
        " for " + std::to_string(ttl / 1us) + " us");
    const double way = static_cast<double>(below(100)) / 100;
    const Instant later = now_ + static_cast<Instant>(way * static_cast<double>(ttl.count()));
    if (chance(0.4))
        at(later, [this, &gateway, lease] { renew_lease(gateway, lease); });
    else if (chance(0.6))
        at(later, [this, &gateway, lease] { release_lease(gateway, lease); });
    watch_lease(gateway, lease);
}

// Ends the lease when its time is over by the gateway's clock, and the gateway runs.
void Simulation::watch_lease(Gateway& gateway, const std::shared_ptr<SimulatedLease>& lease) {
    const double rest =
        static_cast<double>((lease->expires - gateway.now().steady).count()) / gateway.rate;
    const Instant when =
        std::max(now_ + std::max<Instant>(static_cast<Instant>(rest), 1000), gateway.paused_until);
    at(when, [this, &gateway, lease] {
        if (gateway.life != lease->life || !lease->permit.holds_slots())
            return;
        if (now_ < gateway.paused_until || gateway.now().steady < lease->expires)
            return watch_lease(gateway, lease);
        lease->permit.release(gateway.now());
    });
}

void Simulation::renew_lease(Gateway& gateway, const std::shared_ptr<SimulatedLease>& lease) {
    const Now now = gateway.now();
    if (gateway.life != lease->life || now_ < gateway.paused_until ||
        !lease->permit.holds_slots() || lease->expires <= now.steady)
        return;
    const Duration longest = longest_lease(gateway, lease->key);
    if (longest <= 0ns) // its holder tries again
        return at(now_ + 30'000'000, [this, &gateway, lease] { renew_lease(gateway, lease); });
    lease->expires = now.steady + longest;
    outcome_.admitted[lease->entry].end = told_end(longest);
    note("g" + std::to_string(gateway.index) + " renews a lease");
    if (chance(0.7))
        at(now_ + longest.count() / 2, [this, &gateway, lease] { renew_lease(gateway, lease); });
}

void Simulation::release_lease(Gateway& gateway, const std::shared_ptr<SimulatedLease>& lease) {
    Admission& entry = outcome_.admitted[lease->entry];
    if (now_ >= entry.end)
        return;
    entry.end = now_; // the holder stops first
    if (gateway.life == lease->life && now_ >= gateway.paused_until)
        lease->permit.release(gateway.now());
}

// Fences may fall then, if the clock that the highest one came from was ahead: docs/shared.md says
// so.
void Simulation::note_forgotten_fences() {
    if (!terms_.lock || outcome_.admitted.empty())
        return;
    const std::uint64_t highest =
        std::ranges::max_element(outcome_.admitted, {}, &Admission::fence)->fence;
    const auto knows = [&](const std::unique_ptr<Gateway>& gateway) {
        return gateway->life != 0 && gateway->limits.front()->fence() >= highest;
    };
    const auto keeps = [&](const auto& entry) {
        const auto fence = entry.second.fields.find("fence");
        return fence != entry.second.fields.end() && std::stoull(fence->second) >= highest;
    };
    if (std::ranges::none_of(gateways_, knows) && std::ranges::none_of(store_.data.keys, keeps))
        outcome_.fences_forgotten.push_back(now_);
}

void Simulation::want_fences(Gateway& gateway, int key) {
    const SharedCounter counter{
        .limit = gateway.limits[static_cast<std::size_t>(key)],
        .key = {},
        .numbers = {gateway.number, 0}};
    (void)gateway.client->want("c" + std::to_string(key), counter, 1, gateway.now());
    tick(gateway);
}

} // namespace stint::shared
