#include "limits/top_keys/space_saving.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace stint::limits {

SpaceSaving::SpaceSaving() : labels_{std::make_unique_for_overwrite<Label[]>(capacity)} {}

SpaceSaving::SpaceSaving(const SpaceSaving& other)
    : size_{other.size_}, index_{other.index_}, order_{other.order_}, counts_{other.counts_},
      ranks_{other.ranks_}, keys_{other.keys_}, labels_{std::make_unique_for_overwrite<Label[]>(
                                                    capacity)} {
    std::copy_n(other.labels_.get(), size_, labels_.get());
}

void SpaceSaving::add(Hash128 key, std::string_view text) noexcept {
    const std::size_t slot = slot_of(key);
    Number number = 0;
    if (index_[slot] != 0) [[likely]] {
        number = static_cast<Number>(index_[slot] - 1u);
    } else {
        number = take_entry(slot, key);
        Label& label = labels_[number];
        label.cut = text.size() > longest_text;
        label.size = static_cast<std::uint8_t>(std::min(text.size(), longest_text));
        std::copy_n(text.data(), label.size, label.text.data());
    }
    count_up(number);
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
    index_.fill(0);
}

SpaceSaving::Entry SpaceSaving::ranked(std::size_t rank) const noexcept {
    const Number number = order_[rank];
    const Label& label = labels_[number];
    return {keys_[number],     {label.text.data(), label.size},
            label.cut,         counts_[rank],
            label.over,        label.refused,
            label.would_refuse};
}

std::optional<SpaceSaving::Entry> SpaceSaving::find(Hash128 key) const noexcept {
    const Number found = index_[slot_of(key)];
    if (found == 0)
        return std::nullopt;
    return ranked(ranks_[found - 1u]);
}

// Returns the key's slot, or the vacant slot where its path ends.
std::size_t SpaceSaving::slot_of(Hash128 key) const noexcept {
    std::size_t slot = home(key);
    while (index_[slot] != 0 && keys_[index_[slot] - 1u] != key)
        slot = after(slot);
    return slot;
}

SpaceSaving::Label* SpaceSaving::label_of(Hash128 key) noexcept {
    const Number found = index_[slot_of(key)];
    return found == 0 ? nullptr : &labels_[found - 1u];
}

// Vacates a slot. Moves each later slot of the run back into the gap, unless its probe path begins
// behind the gap.
void SpaceSaving::erase(std::size_t slot) noexcept {
    std::size_t gap = slot;
    for (std::size_t next = after(gap); index_[next] != 0; next = after(next)) {
        const std::size_t wanted = home(keys_[index_[next] - 1u]);
        if (((next - wanted) & (slots - 1)) < ((next - gap) & (slots - 1)))
            continue;
        index_[gap] = index_[next];
        gap = next;
    }
    index_[gap] = 0;
}

SpaceSaving::Number SpaceSaving::take_entry(std::size_t slot, Hash128 key) noexcept {
    Number number = 0;
    if (size_ < capacity) {
        number = static_cast<Number>(size_);
        order_[size_] = number;
        ranks_[number] = number;
        counts_[size_] = 0;
        ++size_;
    } else {
        number = order_[capacity - 1];
        erase(slot_of(keys_[number]));
        slot = slot_of(key); // its path may end sooner now
    }
    keys_[number] = key;
    index_[slot] = static_cast<Number>(number + 1u);
    labels_[number].over = counts_[ranks_[number]];
    labels_[number].refused = 0;
    labels_[number].would_refuse = 0;
    return number;
}

// Adds one to the entry's count. The order stays sorted, because the entry first changes places
// with the first of the entries with the same count.
void SpaceSaving::count_up(Number number) noexcept {
    std::size_t rank = ranks_[number];
    if (rank > 0 && counts_[rank - 1] == counts_[rank]) {
        const auto first = std::lower_bound(
            counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(rank), counts_[rank],
            std::greater<>{});
        const auto better = static_cast<std::size_t>(first - counts_.begin());
        std::swap(order_[better], order_[rank]);
        ranks_[order_[rank]] = static_cast<Number>(rank);
        ranks_[number] = static_cast<Number>(better);
        rank = better;
    }
    ++counts_[rank];
}

} // namespace stint::limits
