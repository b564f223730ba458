// The slots in coming windows that one counter has given to requests it refused: their instants,
// their clients, and how much room the next window must keep for them. Pure; no lock of its own.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace stint::limits {

// Slots are given in rising order of time. Between neighbours lies (a + b - 1) * s, where a and b
// are their costs and s is (per + grace) / quota, rounded up. The first and the last of slots whose
// costs add up to C are then at least (C - 1) * s apart, so C > quota does not fit into less than
// per + grace; and those who may come in the window [w, w + per) have slots in
// [w - grace, w + per). So a window, whenever it opens, has room for all of them. A quota that is
// lowered meanwhile breaks that for the slots that are out already.
class SlotLedger {
  public:
    // Time after its instant in which a slot may be claimed: Retry-After is whole seconds, rounded
    // up, and then there is the way back.
    static constexpr Duration grace = std::chrono::seconds{2};

    struct Slot {
        SteadyTime at{};
        std::uint64_t cost = 1;
        Hash128 client{};
        bool claiming = false; // see begin_claim()

        [[nodiscard]] bool over(SteadyTime now) const noexcept { return at + grace < now; }
        [[nodiscard]] bool claimable(SteadyTime now) const noexcept {
            return at <= now && !over(now) && !claiming;
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
    // Returns true if the number is a slot's that no request is claiming.
    [[nodiscard]] bool has_free(std::uint64_t number) const noexcept;
    // Returns the client's earliest such slot, if it may be claimed now; 0: there is none.
    [[nodiscard]] std::uint64_t claimable_by(Hash128 client, SteadyTime now) const noexcept;
    // Returns the costs of all slots of this client together.
    [[nodiscard]] std::uint64_t cost_of(Hash128 client) const noexcept;

    // Removes a slot that was claimed, or exchanged for another. Requires: it is among slots().
    void take(std::uint64_t number) noexcept;
    // Begins a claim, which take() ends: until then the slot keeps its place, but no quota is held
    // for it, because the request that claims it is charged. Requires: it is among slots().
    void begin_claim(std::uint64_t number) noexcept;
    // Undoes begin_claim(). No effect if the slot has been forgotten meanwhile.
    void undo_claim(std::uint64_t number) noexcept;
    // Drops slots that are over; returns how many.
    std::size_t forget(SteadyTime now) noexcept;
    // Returns the costs of the slots before `end`. After forget(): the quota that a window that
    // ends there must keep for clients that may still come.
    [[nodiscard]] std::uint64_t held_before(SteadyTime end) noexcept;

  private:
    struct Client {
        std::uint64_t cost = 0;
        std::set<std::uint64_t> numbers;
    };
    [[nodiscard]] static std::uint64_t held_for(const Slot& slot) noexcept {
        return slot.claiming ? 0 : slot.cost;
    }
    [[nodiscard]] bool is_counted(Slots::const_iterator slot) const noexcept {
        return counted_ == slots_.end() || slot->first < counted_->first;
    }
    void add_to_client(std::uint64_t number, const Slot& slot);
    void erase(Slots::iterator slot) noexcept;

    Slots slots_;
    std::map<Hash128, Client> clients_; // none is without a slot
    // For the slots before this one held_ is held together: moved along by held_before(), since
    // most calls ask for the same end.
    Slots::iterator counted_ = slots_.end();
    std::uint64_t held_ = 0;
    Slot last_{}; // latest slot ever given
    bool any_given_ = false;
};

} // namespace stint::limits
