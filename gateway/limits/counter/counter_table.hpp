// The counters of one shard by key: open addressing with linear probing. No lock, no clock; the
// caller defines which counters are live.
#pragma once

#include "base/hash.hpp"
#include "limits/algorithm/counter_cell.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace stint::limits {

struct Counter {
    Hash128 key;
    CounterCell slot;

    [[nodiscard]] bool vacant() const noexcept { return slot.stamp == 0; }
};
static_assert(sizeof(Counter) == 32 && std::is_trivially_copyable_v<Counter>);

// Never throws: running out of memory is reported. Pointers into the table last until the next
// non-const call.
class CounterTable {
  public:
    struct Probe {
        Counter* match = nullptr;   // holds the key, live or expired
        Counter* expired = nullptr; // the first slot on the key's path that may be taken over
        Counter* vacant = nullptr;  // where the path ends; nullptr only in a table without slots
    };

    CounterTable() = default;
    CounterTable(const CounterTable&) = delete;
    CounterTable& operator=(const CounterTable&) = delete;
    ~CounterTable();

    [[nodiscard]] Probe probe(Hash128 key, LiveStamps live) noexcept;
    [[nodiscard]] const Counter* find(Hash128 key) const noexcept;

    // Called with a cell before it is erased, to free what it owns. Not called by claim().
    using Discard = void (*)(CounterCell&) noexcept;
    void on_discard(Discard discard) noexcept { discard_ = discard; }

    // Gives a slot that probe() found for `key`, expired or vacant, to the key. slot.stamp is not
    // 0. Requires has_room() for a vacant slot.
    void claim(Counter& counter, Hash128 key, CounterCell slot) noexcept;
    // Makes the slot vacant, and closes the gap that this leaves in the probe paths of other keys.
    void erase(Counter& slot) noexcept;

    // Called with the counters that sweep() erases whose `used` is above `above`.
    struct Farewell {
        void (*call)(void* of, const Counter& counter) noexcept = nullptr;
        void* of = nullptr;
        std::uint64_t above = std::numeric_limits<std::uint64_t>::max();
    };
    struct Swept {
        std::size_t erased = 0;
        // The lowest stamp of the remaining counters.
        std::int64_t lowest_stamp = std::numeric_limits<std::int64_t>::max();
    };
    // Erases every expired counter. O(capacity).
    Swept sweep(LiveStamps live, const Farewell& farewell) noexcept;
    Swept sweep(LiveStamps live) noexcept { return sweep(live, Farewell{}); }

    // Moves to an array of `capacity` > occupied() slots; false, with nothing changed, if there is
    // no memory. O(capacity).
    [[nodiscard]] bool grow(std::size_t capacity) noexcept;

    // True if one more slot may be occupied: above seven eighths probing gets long.
    [[nodiscard]] bool has_room() const noexcept { return (occupied_ + 1) * 8 <= capacity_ * 7; }
    [[nodiscard]] std::size_t occupied() const noexcept { return occupied_; } // live and expired
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    [[nodiscard]] const Counter* begin() const noexcept { return slots_; } // vacant slots included
    [[nodiscard]] const Counter* end() const noexcept { return slots_ + capacity_; }

  private:
    [[nodiscard]] std::size_t home(Hash128 key) const noexcept;
    [[nodiscard]] std::size_t after(std::size_t slot) const noexcept {
        return slot + 1 == capacity_ ? 0 : slot + 1;
    }

    Counter* slots_ = nullptr;
    Discard discard_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t occupied_ = 0;
};

} // namespace stint::limits
