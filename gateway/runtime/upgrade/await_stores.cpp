#include "runtime/upgrade/await_stores.hpp"

#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>

namespace stint::runtime {
namespace {

constexpr auto between_looks = std::chrono::milliseconds{20};

// Why a store gives no shares.
struct Obstacle {
    std::string reason;
    enum class Kind : std::uint8_t { passes, down, lasts } kind = Kind::passes;

    [[nodiscard]] Duration longest(const StoreWaits& waits) const noexcept {
        return kind == Kind::passes ? waits.most
               : kind == Kind::down ? waits.if_down
                                    : Duration::zero();
    }
};

bool is_used(const stores::Store& store, const Compiled& compiled) {
    return std::ranges::any_of(compiled.limits, [&](const ConfiguredLimit& each) {
        return each.limit->identity().store == store.settings().name;
    });
}

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

// Returns why the store gives no shares of these limits; nothing: it does.
std::optional<Obstacle>
obstacle_of(const stores::Store& store, const config::Config& config, const Compiled& compiled) {
    using Kind = Obstacle::Kind;
    const stores::StoreState state = store.state();
    const std::string name = "store " + store.settings().name;
    // A server that is unfit is down for a moment whenever it is asked again (StoreLoop).
    const auto unusable = [&name](const std::string& why) {
        return Obstacle{name + " cannot be used: " + why, Kind::down};
    };
    if (!state.unfit.empty())
        return unusable(state.unfit);
    if (!state.up)
        return Obstacle{
            name + " does not answer" + (state.last_error.empty() ? "" : ": ") + state.last_error,
            Kind::down};
    if (!state.unconfirmed.empty())
        return unusable(state.unconfirmed);
    if (state.session == shared::SessionState::foreign)
        return Obstacle{name + " is used by gateways of another version of Stint", Kind::lasts};
    if (!state.asking)
        return Obstacle{
            name + " gives this process no session yet (" +
            std::string{shared::name_of(state.session)} +
            "): a gateway that is not heard, or a process that was killed, may have to be given up "
            "first, which takes `session`"};
    if (const auto* const limit = withheld_limit(store, state, config, compiled))
        return Obstacle{
            name + " gives nothing of limit " + limit->name +
            " yet, as it may have forgotten what gateways hold. If no gateway holds any: POST "
            "/stores/" +
            store.settings().name + "/trust, at a gateway that uses it"};
    return std::nullopt;
}

std::optional<Obstacle>
first_obstacle(const SharedStores& stores, const config::Config& config, const Compiled& compiled) {
    for (const stores::StorePtr& each : stores)
        if (is_used(*each, compiled))
            if (auto found = obstacle_of(*each, config, compiled))
                return found;
    return std::nullopt;
}

} // namespace

Result<void, std::string> await_stores(
    const config::Config& config,
    const Compiled& compiled,
    const SharedStores& stores,
    StoreWaits waits,
    const std::function<bool()>& given_up) {
    const SteadyTime begun = net::read_steady_clock();
    SteadyTime since = begun; // the obstacle has been of this kind
    Obstacle last;
    for (;;) {
        std::optional<Obstacle> found = first_obstacle(stores, config, compiled);
        if (!found)
            return {};
        const SteadyTime now = net::read_steady_clock();
        if (found->kind != last.kind)
            since = found->kind == Obstacle::Kind::passes ? begun : now;
        if (now - since >= found->longest(waits))
            return std::move(found->reason);
        if (given_up())
            return "the process to be replaced has given up, or has ended; " + found->reason;
        if (found->reason != last.reason && now - begun > waits.if_down / 2)
            spdlog::info("upgrade: process {} waits: {}", ::getpid(), found->reason);
        last = std::move(*found);
        std::this_thread::sleep_for(between_looks);
    }
}

} // namespace stint::runtime
