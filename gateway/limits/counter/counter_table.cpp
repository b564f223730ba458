#include "limits/counter/counter_table.hpp"

#include <cstdlib>
#include <sys/mman.h>

namespace stint::limits {

namespace {

// Arrays of at least a page are mapped one by one. On the heap, arrays that a shard has outgrown
// would stay resident between live ones: half as much again as the counters. Mappings are populated
// at once, because growing touches every page and one fault each would cost more.
constexpr std::size_t page = 4096;

Counter* allocate(std::size_t count) noexcept {
    const std::size_t bytes = count * sizeof(Counter);
    if (bytes < page)
        return static_cast<Counter*>(std::calloc(count, sizeof(Counter)));
    void* mapped = ::mmap(
        nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return mapped == MAP_FAILED ? nullptr : static_cast<Counter*>(mapped);
}

void deallocate(Counter* slots, std::size_t count) noexcept {
    if (slots == nullptr)
        return;
    if (const std::size_t bytes = count * sizeof(Counter); bytes < page)
        std::free(slots);
    else
        ::munmap(slots, bytes);
}

} // namespace

CounterTable::~CounterTable() {
    for (std::size_t i = 0; discard_ != nullptr && i < capacity_; ++i)
        discard_(slots_[i].slot);
    deallocate(slots_, capacity_);
}

// Lemire's reduction: any capacity, one multiplication, no division.
std::size_t CounterTable::home(Hash128 key) const noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>((static_cast<Wide>(key.low) * capacity_) >> 64);
}

CounterTable::Probe CounterTable::probe(Hash128 key, LiveStamps live) noexcept {
    Probe result;
    if (capacity_ == 0)
        return result;
    std::size_t slot = home(key);
    for (; !slots_[slot].vacant(); slot = after(slot)) {
        if (slots_[slot].key == key) {
            result.match = &slots_[slot];
            return result;
        }
        if (result.expired == nullptr && !live.contain(slots_[slot].slot))
            result.expired = &slots_[slot];
    }
    result.vacant = &slots_[slot];
    return result;
}

const Counter* CounterTable::find(Hash128 key) const noexcept {
    if (capacity_ == 0)
        return nullptr;
    for (std::size_t slot = home(key); !slots_[slot].vacant(); slot = after(slot))
        if (slots_[slot].key == key)
            return &slots_[slot];
    return nullptr;
}

void CounterTable::claim(Counter& counter, Hash128 key, CounterCell slot) noexcept {
    if (counter.vacant())
        ++occupied_;
    counter = Counter{key, slot};
}

void CounterTable::erase(Counter& slot) noexcept {
    if (discard_ != nullptr)
        discard_(slot.slot);
    auto gap = static_cast<std::size_t>(&slot - slots_);
    for (std::size_t next = after(gap); !slots_[next].vacant(); next = after(next)) {
        // A counter may move into the gap unless its path begins behind the gap.
        const std::size_t start = home(slots_[next].key);
        const bool begins_behind =
            gap < next ? (gap < start && start <= next) : (gap < start || start <= next);
        if (begins_behind)
            continue;
        slots_[gap] = slots_[next];
        gap = next;
    }
    slots_[gap] = Counter{};
    --occupied_;
}

CounterTable::Swept CounterTable::sweep(LiveStamps live, const Farewell& farewell) noexcept {
    Swept swept;
    if (capacity_ == 0)
        return swept;
    // Begins at a vacant slot, so that each run of occupied slots is seen as a whole: erasing moves
    // counters only within a run.
    std::size_t slot = 0;
    while (!slots_[slot].vacant())
        slot = after(slot);
    for (std::size_t left = capacity_; left > 0; --left, slot = after(slot)) {
        while (!slots_[slot].vacant() && !live.contain(slots_[slot].slot)) {
            if (slots_[slot].slot.used > farewell.above)
                farewell.call(farewell.of, slots_[slot]);
            erase(slots_[slot]);
            ++swept.erased;
        }
        if (!slots_[slot].vacant() && slots_[slot].slot.stamp < swept.lowest_stamp)
            swept.lowest_stamp = slots_[slot].slot.stamp;
    }
    return swept;
}

bool CounterTable::grow(std::size_t capacity) noexcept {
    Counter* const old_slots = slots_;
    const std::size_t old_capacity = capacity_;
    Counter* const fresh = allocate(capacity);
    if (fresh == nullptr)
        return false;
    slots_ = fresh;
    capacity_ = capacity;
    for (std::size_t i = 0; i < old_capacity; ++i) {
        if (old_slots[i].vacant())
            continue;
        std::size_t slot = home(old_slots[i].key);
        while (!slots_[slot].vacant())
            slot = after(slot);
        slots_[slot] = old_slots[i];
    }
    deallocate(old_slots, old_capacity);
    return true;
}

} // namespace stint::limits
