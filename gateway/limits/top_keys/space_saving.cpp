#include "limits/top_keys/space_saving.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

namespace stint::limits {

SpaceSaving::Arrays::Arrays(std::size_t entries) : room{entries}, mask{2 * entries - 1} {
    std::size_t size = 0;
    const auto place = [&size](std::size_t bytes) { return std::exchange(size, size + bytes); };
    // From the strictest alignment to the least.
    const std::size_t of_keys = place(entries * sizeof(Hash128));
    const std::size_t of_labels = place(entries * sizeof(Label));
    const std::size_t of_counts = place(entries * sizeof(std::uint64_t));
    const std::size_t of_index = place(2 * entries * sizeof(Number));
    const std::size_t of_order = place(entries * sizeof(Number));
    const std::size_t of_ranks = place(entries * sizeof(Number));
    memory = std::make_unique<std::byte[]>(size);
    keys = new (&memory[of_keys]) Hash128[entries];
    labels = new (&memory[of_labels]) Label[entries];
    counts = new (&memory[of_counts]) std::uint64_t[entries];
    index = new (&memory[of_index]) Number[2 * entries]{};
    order = new (&memory[of_order]) Number[entries];
    ranks = new (&memory[of_ranks]) Number[entries];
}

SpaceSaving::SpaceSaving(const SpaceSaving& other)
    : size_{other.size_}, took_over_{other.took_over_} {
    if (other.arrays_.room == 0)
        return;
    arrays_ = Arrays{other.arrays_.room};
    copy_entries(other.arrays_);
}

// Copies all entries, and builds the index. Requires: room for the entries, and a vacant index.
void SpaceSaving::copy_entries(const Arrays& from) noexcept {
    std::copy_n(from.order, size_, arrays_.order);
    std::copy_n(from.counts, size_, arrays_.counts);
    std::copy_n(from.ranks, size_, arrays_.ranks);
    std::copy_n(from.keys, size_, arrays_.keys);
    std::copy_n(from.labels, size_, arrays_.labels);
    for (std::size_t number = 0; number < size_; ++number)
        arrays_.index[slot_of(arrays_.keys[number])] = static_cast<Number>(number + 1u);
}

// Makes room for twice as many entries. Returns false if there are `capacity`, or no memory.
bool SpaceSaving::grow() noexcept try {
    if (arrays_.room == capacity)
        return false;
    Arrays larger{std::max(2 * arrays_.room, first_room)};
    std::swap(arrays_, larger);
    copy_entries(larger);
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

void SpaceSaving::add(Hash128 key, std::string_view text) noexcept {
    const std::size_t slot = slot_of(key);
    std::uint32_t found = arrays_.index[slot];
    if (found == 0) [[unlikely]] {
        found = take_entry(slot, key, text);
        if (found == 0)
            return;
    }
    const auto number = static_cast<Number>(found - 1);
    std::size_t rank = arrays_.ranks[number];
    if (rank > 0 && arrays_.counts[rank - 1] == arrays_.counts[rank])
        rank = move_up(number, rank); // so that the order stays sorted
    ++arrays_.counts[rank];
}

void SpaceSaving::refuse(Hash128 key) noexcept {
    if (Label* const label = label_of(key))
        ++label->refused;
}

void SpaceSaving::count_would_refuse(Hash128 key) noexcept {
    if (Label* const label = label_of(key))
        ++label->would_refuse;
}

void SpaceSaving::clear() noexcept {
    size_ = 0;
    took_over_ = false;
    std::fill_n(arrays_.index, 2 * arrays_.room, Number{0});
}

SpaceSaving::Entry SpaceSaving::ranked(std::size_t rank) const noexcept {
    const Number number = arrays_.order[rank];
    const Label& label = arrays_.labels[number];
    return {
        arrays_.keys[number],
        {label.text.data(), label.size},
        label.cut,
        arrays_.counts[rank],
        label.over,
        label.refused,
        label.would_refuse};
}

std::optional<SpaceSaving::Entry> SpaceSaving::find(Hash128 key) const noexcept {
    const Number found = arrays_.index[slot_of(key)];
    if (found == 0)
        return std::nullopt;
    return ranked(arrays_.ranks[found - 1u]);
}

// Returns the key's slot, or the vacant slot where its path ends.
std::size_t SpaceSaving::slot_of(Hash128 key) const noexcept {
    std::size_t slot = home(key);
    while (arrays_.index[slot] != 0 && arrays_.keys[arrays_.index[slot] - 1u] != key)
        slot = after(slot);
    return slot;
}

SpaceSaving::Label* SpaceSaving::label_of(Hash128 key) noexcept {
    const Number found = arrays_.index[slot_of(key)];
    return found == 0 ? nullptr : &arrays_.labels[found - 1u];
}

// Vacates a slot. Moves each later slot of the run back into the gap, unless its probe path begins
// behind the gap.
void SpaceSaving::erase(std::size_t slot) noexcept {
    std::size_t gap = slot;
    for (std::size_t next = after(gap); arrays_.index[next] != 0; next = after(next)) {
        const std::size_t wanted = home(arrays_.keys[arrays_.index[next] - 1u]);
        if (((next - wanted) & arrays_.mask) < ((next - gap) & arrays_.mask))
            continue;
        arrays_.index[gap] = arrays_.index[next];
        gap = next;
    }
    arrays_.index[gap] = 0;
}

// Returns the number of the key's new entry + 1; 0 if there is no memory for a single one.
SpaceSaving::Number
SpaceSaving::take_entry(std::size_t slot, Hash128 key, std::string_view text) noexcept {
    Number number = 0;
    if (size_ == arrays_.room && grow())
        slot = slot_of(key);
    if (arrays_.room == 0)
        return 0;
    if (size_ < arrays_.room) {
        number = static_cast<Number>(size_);
        arrays_.order[size_] = number;
        arrays_.ranks[number] = number;
        arrays_.counts[size_] = 0;
        ++size_;
    } else {
        took_over_ = true;
        number = arrays_.order[size_ - 1];
        erase(slot_of(arrays_.keys[number]));
        slot = slot_of(key); // its path may end sooner now
    }
    arrays_.keys[number] = key;
    arrays_.index[slot] = static_cast<Number>(number + 1u);
    Label& label = arrays_.labels[number];
    label.over = arrays_.counts[arrays_.ranks[number]];
    label.refused = 0;
    label.would_refuse = 0;
    label.cut = text.size() > longest_text;
    label.size = static_cast<std::uint8_t>(std::min(text.size(), longest_text));
    std::copy_n(text.data(), label.size, label.text.data());
    return static_cast<Number>(number + 1u);
}

// Swaps the entry with the first entry that has the same count. Returns the entry's new rank.
std::size_t SpaceSaving::move_up(Number number, std::size_t rank) noexcept {
    const auto first = std::lower_bound(
        arrays_.counts, arrays_.counts + rank, arrays_.counts[rank], std::greater<>{});
    const auto better = static_cast<std::size_t>(first - arrays_.counts);
    std::swap(arrays_.order[better], arrays_.order[rank]);
    arrays_.ranks[arrays_.order[rank]] = static_cast<Number>(rank);
    arrays_.ranks[number] = static_cast<Number>(better);
    return better;
}

} // namespace stint::limits
