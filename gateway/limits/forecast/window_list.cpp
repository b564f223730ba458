#include "limits/forecast/window_list.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace stint::limits {

namespace {

constexpr std::uint64_t exact = 16; // counts below have a bin each
constexpr int parts_bits = 3;       // 2^3 bins for each power of two
constexpr std::uint64_t parts = std::uint64_t{1} << parts_bits;
constexpr std::size_t step = 16; // bins that are made at once

std::size_t bin_of(std::uint64_t counted) noexcept {
    if (counted < exact)
        return static_cast<std::size_t>(counted);
    const int shift = static_cast<int>(std::bit_width(counted)) - 1 - parts_bits; // at least 1
    const std::uint64_t part = (counted >> shift) - parts;
    const auto bin = exact + static_cast<std::uint64_t>(shift - 1) * parts + part;
    return static_cast<std::size_t>(std::min<std::uint64_t>(bin, CountBins::most - 1));
}

// Returns the lowest count of a bin.
std::uint64_t lowest_of(std::size_t bin) noexcept {
    if (bin < exact)
        return bin;
    const std::uint64_t above = bin - exact;
    return (parts + above % parts) << (above / parts + 1);
}

// Returns the highest sum of what is above `quota`, of counts between `low` and `high`: with as
// many counts at either end as their sum allows, since the excess is convex. Rounded up.
std::uint64_t
most_above(const CountBins::Bin& bin, std::uint64_t low, std::uint64_t high, std::uint64_t quota) {
    if (low == high)
        return 0;
    __extension__ using Wide = unsigned __int128;
    const Wide spread = bin.sum - low * bin.windows;
    const Wide excess = spread * (high - quota);
    return static_cast<std::uint64_t>((excess + (high - low) - 1) / (high - low));
}

bool counted_more(const WindowCount& a, const WindowCount& b) noexcept {
    return a.counted > b.counted;
}

} // namespace

CountBins::Bin* CountBins::bin_for(std::uint64_t counted) noexcept try {
    const std::size_t bin = bin_of(counted);
    if (bin >= bins_.size()) {
        const std::size_t size = (bin / step + 1) * step;
        bins_.reserve(size);
        bins_.resize(size);
    }
    return &bins_[bin];
} catch (const std::bad_alloc&) {
    return nullptr;
}

void CountBins::add(std::uint64_t counted) noexcept {
    if (Bin* const bin = bin_for(counted)) {
        bin->sum += counted;
        ++bin->windows;
    }
}

void CountBins::add(const CountBins& other) noexcept {
    for (std::size_t i = 0; i < other.bins_.size(); ++i) {
        if (other.bins_[i].windows == 0)
            continue;
        if (Bin* const bin = bin_for(lowest_of(i))) {
            bin->sum += other.bins_[i].sum;
            bin->windows += other.bins_[i].windows;
        }
    }
}

CountBins::Bin CountBins::total() const noexcept {
    Bin total;
    for (const Bin& bin : bins_) {
        total.sum += bin.sum;
        total.windows += bin.windows;
    }
    return total;
}

std::uint64_t CountBins::highest() const noexcept {
    for (std::size_t i = bins_.size(); i-- > 0;)
        if (bins_[i].windows > 0)
            return i + 1 < most ? lowest_of(i + 1) - 1 : bins_[i].sum;
    return 0;
}

std::uint64_t CountBins::windows_from(std::uint64_t count) const noexcept {
    std::uint64_t windows = 0;
    for (std::size_t i = bin_of(count); i < bins_.size(); ++i)
        windows += bins_[i].windows;
    return windows;
}

Bounds CountBins::refused_by(std::uint64_t quota) const noexcept {
    Bounds refused;
    for (std::size_t i = bin_of(quota); i < bins_.size(); ++i) {
        const Bin& bin = bins_[i];
        if (bin.windows == 0)
            continue;
        const bool admits_all = quota > bin.sum / bin.windows; // else the product is no overflow
        const std::uint64_t admitted = admits_all ? bin.sum : quota * bin.windows;
        const std::uint64_t least = bin.sum - admitted;
        refused.least += least;
        if (lowest_of(i) >= quota) // so that all its windows are above the quota
            refused.most += least;
        else if (i + 1 < most)
            refused.most += most_above(bin, lowest_of(i), lowest_of(i + 1) - 1, quota);
        else
            refused.most += bin.sum - lowest_of(i) * bin.windows;
    }
    return refused;
}

void WindowList::add(const WindowCount& window) noexcept try {
    if (listed_.size() < most_) {
        listed_.push_back(window);
        std::ranges::push_heap(listed_, counted_more);
        return;
    }
    if (most_ == 0 || window.counted <= listed_.front().counted)
        return rest_.add(window.counted);
    std::ranges::pop_heap(listed_, counted_more);
    rest_.add(listed_.back().counted);
    listed_.back() = window;
    std::ranges::push_heap(listed_, counted_more);
} catch (const std::bad_alloc&) {
    rest_.add(window.counted);
}

void WindowList::add(const WindowList& other) noexcept {
    for (const WindowCount& window : other.listed_)
        add(window);
    rest_.add(other.rest_);
}

void WindowList::clear() noexcept {
    listed_.clear();
    rest_.clear();
}

} // namespace stint::limits
