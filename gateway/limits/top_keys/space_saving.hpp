// The most frequent of any number of keys, in bounded memory: Space-Saving (Metwally, Agrawal and
// El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", ICDT 2005).
#pragma once

#include "base/hash.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace stint::limits {

// Counts keys in a fixed number of entries. A key without an entry takes over the entry with the
// lowest count, and continues that count: so a count is never too low, and too high by at most
// `over`. Every key that came more often than total / capacity times has an entry. Plain data of
// one thread; no lock, no clock. add() is O(1) while the order of the keys stays, else O(log n).
// Entries take memory as keys come: add() allocates when their number has doubled since the last
// time, up to `capacity`. Without memory there are fewer entries.
class SpaceSaving {
  public:
    static constexpr std::size_t capacity = 256;
    static constexpr std::size_t first_room = 8;    // entries of the first allocation
    static constexpr std::size_t longest_text = 96; // bytes; a longer one is cut

    // One key's counts; valid until the next non-const call.
    struct Entry {
        Hash128 key;
        std::string_view text;
        bool cut = false; // the text was longer
        std::uint64_t count = 0;
        std::uint64_t over = 0;         // `count` is too high by at most this
        std::uint64_t refused = 0;      // refusals since the key took this entry; never too high
        std::uint64_t would_refuse = 0; // as `refused`, but for refusals in dry run
    };

    SpaceSaving() = default;
    SpaceSaving(const SpaceSaving& other); // throws std::bad_alloc
    SpaceSaving& operator=(const SpaceSaving&) = delete;

    // Counts one request of `key`; `text` is read only when the key takes an entry.
    void add(Hash128 key, std::string_view text) noexcept;
    // Count the request of `key` that was added last as refused, or as one that a dry run would
    // have refused.
    void refuse(Hash128 key) noexcept;
    void count_would_refuse(Hash128 key) noexcept;
    void clear() noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Returns the number of entries that there is memory for.
    [[nodiscard]] std::size_t room() const noexcept { return arrays_.room; }
    // Returns the entry of a rank: 0, the heaviest, to size() - 1.
    [[nodiscard]] Entry ranked(std::size_t rank) const noexcept;
    [[nodiscard]] std::optional<Entry> find(Hash128 key) const noexcept;
    // Returns the highest count that a key without an entry can have.
    [[nodiscard]] std::uint64_t unlisted() const noexcept {
        return took_over_ ? arrays_.counts[size_ - 1] : 0;
    }

  private:
    // Data that only a new or a refused key touches.
    struct Label {
        std::uint64_t over;
        std::uint32_t refused;
        std::uint32_t would_refuse;
        std::uint8_t size;
        bool cut;
        std::array<char, longest_text> text;
    };
    using Number = std::uint16_t; // index of an entry

    static_assert((capacity & (capacity - 1)) == 0 && longest_text < 256);
    static_assert((first_room & (first_room - 1)) == 0);

    // The arrays, in one piece of memory.
    struct Arrays {
        Arrays() = default;
        explicit Arrays(std::size_t entries); // throws std::bad_alloc

        std::size_t room = 0;    // entries
        std::size_t mask = 0;    // selects a slot of `index`, which has twice as many as entries
        Number* index = none;    // by hash: an entry's number + 1, 0 = vacant
        Number* order = nullptr; // by rank: the entry
        std::uint64_t* counts = nullptr; // by rank
        Number* ranks = nullptr;         // by entry
        Hash128* keys = nullptr;         // by entry
        Label* labels = nullptr;         // by entry
        std::unique_ptr<std::byte[]> memory;
        static inline Number none[1] = {0}; // index of an object without entries; never written to
    };

    [[nodiscard]] std::size_t home(Hash128 key) const noexcept { return key.low & arrays_.mask; }
    [[nodiscard]] std::size_t after(std::size_t slot) const noexcept {
        return (slot + 1) & arrays_.mask;
    }
    [[nodiscard]] std::size_t slot_of(Hash128 key) const noexcept;
    // Returns the key's label; nullptr if it has no entry.
    [[nodiscard]] Label* label_of(Hash128 key) noexcept;
    bool grow() noexcept;
    void erase(std::size_t slot) noexcept;
    [[nodiscard]] std::size_t move_up(Number number, std::size_t rank) noexcept;
    [[nodiscard, gnu::noinline]] Number
    take_entry(std::size_t slot, Hash128 key, std::string_view text) noexcept;
    void copy_entries(const Arrays& from) noexcept;

    std::size_t size_ = 0;
    bool took_over_ = false; // a key took over another one's entry
    Arrays arrays_;
};

} // namespace stint::limits
