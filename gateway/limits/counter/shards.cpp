#include "limits/counter/shards.hpp"

namespace stint::limits {

constinit std::array<Shards::Slot, Shards::most> Shards::none{};

Shards::~Shards() {
    visit_made([this](Shard& shard) {
        if (discard_ != nullptr)
            discard_(shard.single);
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
    made->table.on_discard(discard_);
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

Shard& Shards::for_reading(Hash128 key) const noexcept {
    static Shard empty;
    Shard* const known = made_of(key);
    return known != nullptr ? *known : empty;
}

} // namespace stint::limits
