#include "runtime/upgrade/await_stores.hpp"

#include "net/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

namespace stint::runtime {
namespace {

// Why a store gives no shares.
struct Obstacle {
    std::string reason;
    enum class Kind : std::uint8_t { passes, down, lasts } kind = Kind::passes;

    [[nodiscard]] Duration longest_wait(const StoreWaits& waits) const noexcept {
        return kind == Kind::passes ? waits.most
               : kind == Kind::down ? waits.if_down
                                    : Duration::zero();
    }
};

// Returns the shared limit of which the store gives none to some key by this state of it; nullptr:
// there is none.
const config::Limit* withheld_limit(
    const stores::Store& store,
    const stores::StoreState& state,
    const config::Config& config,
    const Compiled& compiled) {
    for (std::size_t i = 0; i < compiled.limits.size(); ++i) {
        const ConfiguredLimit& limit = compiled.limits[i];
        if (limit.limit->identity().store != store.settings().name)
            continue;
        const auto gives = [&](const limits::Numbers& numbers) {
            return store.gives(limit.limit, numbers, state);
        };
        const bool gives_all =
            gives(limit.numbers) &&
            std::ranges::all_of(config.limits[i].overrides, [&](const config::Override& each) {
                return gives({each.quota, each.burst});
            });
        if (!gives_all)
            return &config.limits[i];
    }
    return nullptr;
}

std::optional<Obstacle>
obstacle_of(const stores::Store& store, const config::Config& config, const Compiled& compiled) {
    using Kind = Obstacle::Kind;
    const stores::StoreState state = store.state();
    const std::string name = "store " + store.settings().name;
    if (!state.up)
        return Obstacle{name + " does not answer: " + state.last_error, Kind::down};
    for (const std::string& why : {state.unfit, state.unconfirmed})
        if (!why.empty())
            return Obstacle{name + " cannot be used: " + why, Kind::down};
    if (state.session == shared::SessionState::foreign)
        return Obstacle{name + " is used by gateways of another version of Stint", Kind::lasts};
    if (!state.asking)
        return Obstacle{
            name + " gives this process no session yet (" +
            std::string{shared::name_of(state.session)} + ")"};
    if (const auto* const limit = withheld_limit(store, state, config, compiled))
        return Obstacle{
            name + " gives nothing of limit " + limit->name +
            " yet, as it may have forgotten what gateways hold. If no gateway holds any: POST "
            "/stores/" +
            store.settings().name + "/trust"};
    return std::nullopt;
}

} // namespace

Result<void, std::string> await_stores(
    const config::Config& config,
    const Compiled& compiled,
    const SharedStores& stores,
    StoreWaits waits) {
    const SteadyTime begun = net::read_steady_clock();
    for (;;) {
        const Duration waited = net::read_steady_clock() - begun;
        std::optional<Obstacle> found;
        for (const stores::StorePtr& each : stores)
            if (!found)
                found = obstacle_of(*each, config, compiled);
        if (!found)
            return {};
        if (waited >= found->longest_wait(waits))
            return std::move(found->reason);
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
}

} // namespace stint::runtime
