// The slots in coming windows that one counter has given to refused requests: their instants, their
// clients, and how much room the next window must keep for them. Pure; no lock of its own.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace stint::limits {

// Slots are given in rising order of time. Between neighbours of costs a and b lies (a + b - 1) *
// s, where s is (per + grace) / quota, rounded up. The first and the last of slots whose costs add
// up to C are then at least (C - 1) * s apart, so C > quota does not fit into less than per +
// grace. Clients that may come in the window [w, w + per) have slots in [w - grace, w + per). So a
// window, whenever it opens, has room for all of them. After the quota is lowered, that does not
// hold for slots given before.
class SlotLedger {
  public:
    // How long after its instant a slot may be claimed: Retry-After is rounded up to whole seconds,
    // and the client's request takes time to arrive.
    static constexpr Duration grace = std::chrono::seconds{2};

    struct Slot {
        SteadyTime at{};
        std::uint64_t cost = 1;
        Hash128 client{};

        [[nodiscard]] bool over(SteadyTime now) const noexcept { return at + grace < now; }
        [[nodiscard]] bool claimable(SteadyTime now) const noexcept {
            return at <= now && !over(now);
        }
    };
    using Slots = std::map<std::uint64_t, Slot>; // by number

    SlotLedger() = default;
    SlotLedger(const SlotLedger&) = delete;
    SlotLedger& operator=(const SlotLedger&) = delete;

    // Returns the earliest instant for a slot of this cost, not before `earliest`. Requires: 0 <
    // cost <= quota.
    [[nodiscard]] SteadyTime next_at(
        SteadyTime earliest, std::uint64_t cost, std::uint64_t quota, Duration per) const noexcept;
    // Adds a slot. Requires: a number above all before; an instant that next_at() allows. False,
    // with nothing changed, when there is no memory.
    [[nodiscard]] bool give(std::uint64_t number, const Slot& slot) noexcept;

    // Returns slots that were given and neither taken away nor forgotten.
    [[nodiscard]] const Slots& slots() const noexcept { return slots_; }
    // Returns the number of the client's earliest slot, if that slot may be claimed now; else 0.
    [[nodiscard]] std::uint64_t claimable_by(Hash128 client, SteadyTime now) const noexcept;
    // Returns the sum of the costs of this client's slots.
    [[nodiscard]] std::uint64_t cost_of(Hash128 client) const noexcept;

    // Removes a slot that was claimed, or exchanged for another. Requires: it is among slots().
    void take(std::uint64_t number) noexcept;
    // Drops slots that are over; returns how many.
    std::size_t forget(SteadyTime now) noexcept;
    // Returns the sum of the costs of the slots before `end`. After forget(), that is the quota
    // which a window ending at `end` must keep for clients that may still come.
    [[nodiscard]] std::uint64_t held_before(SteadyTime end) noexcept;

  private:
    struct Client {
        std::uint64_t cost = 0;
        std::set<std::uint64_t> numbers;
    };
    [[nodiscard]] bool is_counted(Slots::const_iterator slot) const noexcept {
        return counted_ == slots_.end() || slot->first < counted_->first;
    }
    void add_to_client(std::uint64_t number, const Slot& slot);
    void erase(Slots::iterator slot) noexcept;

    Slots slots_;
    std::map<Hash128, Client> clients_; // each client here has a slot
    // held_ is the sum over the slots before this one. held_before() moves it step by step, since
    // most calls ask for the same end.
    Slots::iterator counted_ = slots_.end();
    std::uint64_t held_ = 0;
    Slot last_{}; // latest slot ever given
    bool any_given_ = false;
};

} // namespace stint::limits
