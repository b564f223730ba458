#include "config/diff/growing_part.hpp"

#include <algorithm>

namespace stint::config {

std::vector<bool> longest_growing_part(const std::vector<std::size_t>& numbers) {
    std::vector<std::size_t> ends; // ends[n]: where the least end of n + 1 numbers is
    std::vector<std::size_t> previous(
        numbers.size()); // the number before, in the best part that ends here
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto place = std::ranges::lower_bound(
            ends, numbers[i], {}, [&](std::size_t end) { return numbers[end]; });
        previous[i] = place == ends.begin() ? i : *(place - 1);
        if (place == ends.end())
            ends.push_back(i);
        else
            *place = i;
    }
    std::vector<bool> chosen(numbers.size());
    if (ends.empty())
        return chosen;
    std::size_t at = ends.back();
    for (std::size_t left = ends.size(); left > 0; --left) {
        chosen[at] = true;
        at = previous[at];
    }
    return chosen;
}

} // namespace stint::config
