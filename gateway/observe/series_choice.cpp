#include "observe/series_choice.hpp"

#include <algorithm>

namespace stint::observe {

void SeriesChoice::decide(const std::vector<std::uint64_t>& uses, std::size_t most) {
    fates_.resize(std::max(fates_.size(), uses.size()));
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < uses.size(); ++i)
        if (uses[i] == always)
            fates_[i] = Fate::own;
        else if (fates_[i] == Fate::undecided)
            open.push_back(i);
    const std::size_t room = most > own_ ? most - own_ : 0;
    if (open.size() > room) {
        std::erase_if(open, [&](std::size_t index) { return uses[index] == 0; });
        std::ranges::stable_sort(
            open, [&](std::size_t a, std::size_t b) { return uses[a] > uses[b]; });
    }
    for (std::size_t rank = 0; rank < open.size(); ++rank)
        fates_[open[rank]] = rank < room ? Fate::own : Fate::together;
    own_ += std::min(open.size(), room);
}

} // namespace stint::observe
