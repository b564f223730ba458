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
// one thread; no lock, no clock. add() allocates nothing and is O(1) while the order of the keys
// stays, else O(log n).
class SpaceSaving {
  public:
    static constexpr std::size_t capacity = 256;
    static constexpr std::size_t longest_text = 96; // bytes; a longer one is cut

    // One key's counts; valid until the next non-const call.
    struct Entry {
        Hash128 key;
        std::string_view text;
        bool cut = false; // the text was longer
        std::uint64_t count = 0;
        std::uint64_t over = 0;         // `count` is too high by at most this
        std::uint64_t refused = 0;      // refusals since the key took this entry; never too high
        std::uint64_t would_refuse = 0; // the same of a dry run
    };

    SpaceSaving();
    SpaceSaving(const SpaceSaving& other);
    SpaceSaving& operator=(const SpaceSaving&) = delete;

    // Counts one request of `key`; `text` is read only when the key takes an entry.
    void add(Hash128 key, std::string_view text) noexcept;
    // Count the request of `key` that was added last as refused, or as one that a dry run would
    // have refused.
    void refuse(Hash128 key) noexcept;
    void count_would_refuse(Hash128 key) noexcept;
    void clear() noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Returns the entry of a rank: 0, the heaviest, to size() - 1.
    [[nodiscard]] Entry ranked(std::size_t rank) const noexcept;
    [[nodiscard]] std::optional<Entry> find(Hash128 key) const noexcept;
    // Returns the highest count that a key without an entry can have.
    [[nodiscard]] std::uint64_t unlisted() const noexcept {
        return size_ < capacity ? 0 : counts_[capacity - 1];
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

    static constexpr std::size_t slots = 2 * capacity;
    static_assert((slots & (slots - 1)) == 0 && longest_text < 256);

    [[nodiscard]] static std::size_t home(Hash128 key) noexcept { return key.low & (slots - 1); }
    [[nodiscard]] static std::size_t after(std::size_t slot) noexcept {
        return (slot + 1) & (slots - 1);
    }
    [[nodiscard]] std::size_t slot_of(Hash128 key) const noexcept;
    // Returns the key's label; nullptr if it has no entry.
    [[nodiscard]] Label* label_of(Hash128 key) noexcept;
    void erase(std::size_t slot) noexcept;
    void count_up(Number number) noexcept;
    [[nodiscard]] Number take_entry(std::size_t slot, Hash128 key) noexcept;

    std::size_t size_ = 0;
    std::array<Number, slots> index_{};            // by hash: an entry's number + 1, 0 = vacant
    std::array<Number, capacity> order_{};         // by rank: the entry
    std::array<std::uint64_t, capacity> counts_{}; // by rank
    std::array<Number, capacity> ranks_{};         // by entry
    std::array<Hash128, capacity> keys_{};
    // Memory that is not touched, so not resident, before its first use: a limit with few keys
    // costs little.
    std::unique_ptr<Label[]> labels_;
};

} // namespace stint::limits
