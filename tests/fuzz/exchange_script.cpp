#include "exchange_script.hpp"

#include <algorithm>

namespace stint::fuzz {

namespace {

constexpr std::size_t most_steps = 64;

// part: from behind its "@" to the line end before the next one.
Step read_step(std::string_view part) {
    Step step;
    if (part.starts_with('+')) {
        step.settle = false;
        part.remove_prefix(1);
    }
    if (part.empty())
        return step;
    step.command = part.front();
    part.remove_prefix(1);
    part.remove_prefix(part.starts_with('\n') ? 1 : 0);
    step.bytes = part;
    return step;
}

} // namespace

std::vector<Step> parse_script(std::string_view text) {
    constexpr std::string_view mark = "\n@";
    std::vector<Step> steps;
    bool first = true;
    while (!text.empty() && steps.size() < most_steps) {
        const std::size_t end = text.find(mark);
        const std::string_view part = text.substr(0, end);
        if (!first || part.starts_with('@'))
            steps.push_back(read_step(part.substr(first ? 1 : 0)));
        else
            steps.push_back({'n', true, part});
        first = false;
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + mark.size());
    }
    return steps;
}

} // namespace stint::fuzz
