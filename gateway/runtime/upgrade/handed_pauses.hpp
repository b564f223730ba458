// The pauses that upstreams have asked the former process for.
#pragma once

#include "limits/cooldown/cooldown.hpp"
#include "limits/cooldown/cooldown_set.hpp"
#include "limits/cooldown/pause_exchange.hpp"
#include "limits/registry.hpp"
#include "runtime/upgrade/messages.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace stint::runtime {

// Makes this process's cool-downs learn of them. Drops the pauses of this process.
class HandedPauses final : public limits::PauseExchange {
  public:
    explicit HandedPauses(limits::Registry& registry) noexcept : registry_{registry} {}

    // Makes all cool-downs that are not shared with other gateways learn of the pauses. Call it
    // once.
    static void join_all(const std::shared_ptr<HandedPauses>& self, SteadyTime now);

    void add(const HandedPause& pause, SteadyTime now);
    // Leaves all cool-downs, and forgets the pauses: no other will come.
    void end();

    [[nodiscard]] Hash128 join(
        const limits::CooldownIdentity& identity,
        const Hash128& digest,
        const std::shared_ptr<limits::Cooldown>& cooldown,
        SteadyTime now) override;
    [[nodiscard]] bool joins_gateways() const noexcept override { return false; }
    void tell(const Hash128& name, const limits::SharedPause& pause) noexcept override;

  private:
    using Name = std::tuple<limits::CooldownIdentity, Hash128>;

    limits::Registry& registry_;
    std::mutex mutex_;
    std::map<Name, limits::SharedPause> known_;
};

} // namespace stint::runtime
