#include "config/fields/number_pattern.hpp"

#include <string_view>
#include <vector>

namespace stint::config {
namespace {

std::string digit_class(char low, char high) {
    if (low == high)
        return std::string{low};
    return std::string{"["}.append(1, low).append("-").append(1, high).append("]");
}

std::string any_digits(std::size_t count) {
    if (count == 0)
        return {};
    std::string digits{"[0-9]"};
    return count == 1 ? digits : digits.append("{").append(std::to_string(count)).append("}");
}

bool all_are(std::string_view text, char c) {
    return text.find_first_not_of(c) == std::string_view::npos;
}

// Adds what matches the numbers from low to high, which have the same number of digits.
void add_same_length(
    const std::string& before,
    std::string_view low,
    std::string_view high,
    std::vector<std::string>& into) {
    const std::size_t rest = low.empty() ? 0 : low.size() - 1;
    if (low.empty()) {
        into.push_back(before);
    } else if (all_are(low.substr(1), '0') && all_are(high.substr(1), '9')) {
        into.push_back(before + digit_class(low[0], high[0]) + any_digits(rest));
    } else if (low[0] == high[0]) {
        add_same_length(before + low[0], low.substr(1), high.substr(1), into);
    } else {
        const std::string nines(rest, '9');
        const std::string zeros(rest, '0');
        add_same_length(before + low[0], low.substr(1), nines, into);
        if (low[0] + 1 < high[0])
            into.push_back(
                before +
                digit_class(static_cast<char>(low[0] + 1), static_cast<char>(high[0] - 1)) +
                any_digits(rest));
        add_same_length(before + high[0], zeros, high.substr(1), into);
    }
}

} // namespace

std::string number_pattern(std::uint64_t low, std::uint64_t high) {
    std::vector<std::string> parts;
    const std::string last = std::to_string(high);
    std::string first = std::to_string(low);
    while (first.size() < last.size()) {
        add_same_length("", first, std::string(first.size(), '9'), parts);
        first.assign(first.size() + 1, '0');
        first.front() = '1';
    }
    add_same_length("", first, last, parts);
    std::string pattern;
    for (const std::string& part : parts)
        pattern.append(pattern.empty() ? "" : "|").append(part);
    return std::string{"(?:"}.append(pattern).append(")");
}

} // namespace stint::config
