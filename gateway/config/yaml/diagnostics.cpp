#include "config/yaml/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace stint::config {

namespace {

constexpr std::size_t longest_quote = 80;
// No key or name is longer, so no candidate resembles a longer text.
constexpr std::size_t longest_word = 64;

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_control_character(char c) noexcept {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::size_t tolerance(std::size_t length) noexcept {
    if (length <= 2)
        return 0;
    return length <= 5 ? 1 : 2;
}

// Returns the edit distance of two texts (optimal string alignment): the fewest insertions,
// deletions, replacements and swaps of neighbours. Requires texts of at most longest_word
// characters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    using Row = std::array<std::size_t, longest_word + 1>;
    Row before_last{};
    Row last{};
    Row row{};
    for (std::size_t j = 0; j <= b.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
            const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                                 lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped)
                row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last = last;
        last = row;
    }
    return last[b.size()];
}

} // namespace

std::string ConfigError::place() const {
    return file + ':' + std::to_string(line) + ':' + std::to_string(column);
}

std::string ConfigError::text() const {
    return place() + ": " + message;
}

Diagnostics::Diagnostics(std::string file) : file_(std::move(file)) {}

// Messages may contain names from the file, so control characters are escaped here.
void Diagnostics::add(Mark at, std::string message) {
    if (std::any_of(message.begin(), message.end(), is_control_character))
        message = without_controls(message);
    mistakes_.push_back({file_, at.line, at.column, std::move(message)});
}

bool Diagnostics::may_compare(std::size_t names) noexcept {
    const bool may = names <= most_comparisons - comparisons_;
    comparisons_ += may ? names : 0;
    return may;
}

ConfigErrors Diagnostics::take() && {
    const auto place = [](const ConfigError& m) { return std::tie(m.line, m.column); };
    std::stable_sort(
        mistakes_.begin(), mistakes_.end(),
        [&](const ConfigError& a, const ConfigError& b) { return place(a) < place(b); });
    const auto same = [&](const ConfigError& a, const ConfigError& b) {
        return place(a) == place(b) && a.message == b.message;
    };
    mistakes_.erase(std::unique(mistakes_.begin(), mistakes_.end(), same), mistakes_.end());
    return std::move(mistakes_);
}

std::string without_controls(std::string_view text) {
    constexpr std::string_view hex_digits = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_control_character(c))
            out.append({'\\', 'x', hex_digits[byte >> 4], hex_digits[byte & 15]});
        else
            out += c;
    }
    return out;
}

std::string in_quotes(std::string_view text) {
    std::size_t end = std::min(text.size(), longest_quote);
    // Moves the cut to the beginning of a UTF-8 character.
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
        --end;
    std::string out = "\"";
    out.append(without_controls(text.substr(0, end)));
    return out.append(end < text.size() ? "...\"" : "\"");
}

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
    std::string_view best;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    if (text.size() > longest_word)
        return best;
    for (const std::string_view candidate : candidates) {
        const std::size_t allowed = tolerance(std::min(text.size(), candidate.size()));
        const std::size_t difference =
            std::max(text.size(), candidate.size()) - std::min(text.size(), candidate.size());
        if (candidate.size() > longest_word || difference > allowed)
            continue;
        const std::size_t distance = edit_distance(text, candidate);
        if (distance <= allowed && distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates) {
    const std::string_view near = nearest(text, candidates);
    return near.empty() ? std::string{} : "; did you mean " + in_quotes(near) + '?';
}

std::string listed(std::span<const std::string_view> words, std::string_view last_word) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0)
            out += i + 1 == words.size() ? ' ' + std::string{last_word} + ' ' : ", ";
        out += words[i];
    }
    return out;
}

} // namespace stint::config
