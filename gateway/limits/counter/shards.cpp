#include "limits/counter/shards.hpp"

#include <algorithm>
#include <new>

namespace stint::limits {

constinit std::array<Shards::Slot, Shards::most> Shards::none{};

Shards::~Shards() {
    visit_made([this](Shard& shard) {
        if (rules_.discard != nullptr)
            rules_.discard(shard.single);
        delete &shard;
    });
    Slot* const slots = slots_.load(std::memory_order_relaxed);
    if (slots != none.data() && slots != &only_)
        delete[] slots;
}

// Another thread may make the shard at the same time. The first one in the slot stays: counts are
// never in two shards.
Shard& Shards::make(std::size_t number) {
    Slot& slot = slot_for(number);
    auto made = std::make_unique<Shard>();
    made->number = static_cast<std::uint32_t>(number);
    made->table.on_discard(rules_.discard);
    Shard* known = nullptr;
    const bool first = slot.compare_exchange_strong(
        known, made.get(), std::memory_order_acq_rel, std::memory_order_acquire);
    return first ? *made.release() : *known;
}

// Makes the slots of all shards, 2 KiB at most, if there are none yet.
Shards::Slot& Shards::slot_for(std::size_t number) {
    Slot* slots = slots_.load(std::memory_order_acquire);
    if (slots == none.data()) {
        auto made = std::make_unique<Slot[]>(count_);
        const bool first = slots_.compare_exchange_strong(
            slots, made.get(), std::memory_order_acq_rel, std::memory_order_acquire);
        if (first)
            slots = made.release();
    }
    return slots[number];
}

SteadyTime Shards::end_of(const Shard& shard, const CounterCell& cell) const noexcept {
    if (shard.clock.end == SteadyTime{}) // no clock window was ever opened
        return SteadyTime{Duration{cell.stamp}};
    if (cell.stamp == shard.clock.serial)
        return shard.clock.end;
    return shard.clock_ends != nullptr ? shard.clock_ends->of(cell.stamp, shard.clock.serial)
                                       : SteadyTime{};
}

void Shards::retire(Shard& shard, Hash128 key, const CounterCell& cell) noexcept {
    if (rules_.counted == nullptr || cell.stamp <= 0)
        return;
    const std::uint64_t counted = rules_.counted(cell);
    if (counted > PastWindows::negligible)
        past_.add(shard.number, key, counted, end_of(shard, cell));
}

void Shards::end_window(Shard& shard, SteadyTime former, SteadyTime now) noexcept {
    if (former == SteadyTime{})
        return;
    if (shard.clock_ends == nullptr)
        shard.clock_ends.reset(new (std::nothrow) ClockEnds);
    if (shard.clock_ends == nullptr)
        return;
    shard.clock_ends->note(shard.clock.serial - 1, std::min(former, now));
    if (shard.single.stamp == shard.clock.serial - 1)
        retire(shard, {}, shard.single);
}

CounterTable::Swept Shards::sweep(Shard& shard, LiveStamps live) noexcept {
    struct Place {
        Shards& shards;
        Shard& shard;
    } place{*this, shard};
    const auto retire_in = [](void* of, const Counter& counter) noexcept {
        const Place& in = *static_cast<Place*>(of);
        in.shards.retire(in.shard, counter.key, counter.slot);
    };
    if (rules_.counted == nullptr)
        return shard.table.sweep(live);
    return shard.table.sweep(live, {retire_in, &place, PastWindows::negligible});
}

Shard& Shards::for_reading(Hash128 key) const noexcept {
    static Shard empty;
    Shard* const known = made_of(key);
    return known != nullptr ? *known : empty;
}

} // namespace stint::limits
