// Parses words and names in a configuration.
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace stint::config {

Parsed<bool> parse_bool(std::string_view text) {
    if (text == "true" || text == "false")
        return text == "true";
    constexpr std::array<std::string_view, 5> yes{"yes", "on", "1", "True", "TRUE"};
    constexpr std::array<std::string_view, 5> no{"no", "off", "0", "False", "FALSE"};
    std::string hint;
    if (std::ranges::find(yes, text) != yes.end())
        hint = "; did you mean \"true\"?";
    else if (std::ranges::find(no, text) != no.end())
        hint = "; did you mean \"false\"?";
    return ParseError{in_quotes(text) + " is neither true nor false" + hint};
}

Parsed<std::string> parse_word(std::string_view text, std::span<const std::string_view> words) {
    if (std::find(words.begin(), words.end(), text) != words.end())
        return std::string{text};
    const std::string hint = did_you_mean(text, words);
    return ParseError{
        in_quotes(text) + " is unknown" +
        (hint.empty() ? "; expected " + listed(words, "or") : hint)};
}

Parsed<bool> parse_switch(std::string_view text, std::string_view a_map) {
    if (text == "on" || text == "off")
        return text == "on";
    constexpr std::array<std::string_view, 3> yes{"true", "yes", "enabled"};
    constexpr std::array<std::string_view, 4> no{"false", "no", "disabled", "none"};
    constexpr std::array<std::string_view, 2> words{"on", "off"};
    std::string_view meant = nearest(text, words);
    if (std::ranges::find(yes, text) != yes.end())
        meant = words[0];
    else if (std::ranges::find(no, text) != no.end())
        meant = words[1];
    return ParseError{
        in_quotes(text) + " is unknown; expected on, off or a map such as " + std::string{a_map} +
        (meant.empty() ? "" : "; did you mean " + in_quotes(meant) + '?')};
}

Parsed<std::string> parse_name(std::string_view text) {
    const bool known_characters = std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.' || c == '-';
    });
    if (!text.empty() && text.size() <= longest_name && known_characters)
        return std::string{text};
    return ParseError{
        in_quotes(text) + " is not a name; expected 1 to " + std::to_string(longest_name) +
        " of the characters A-Z a-z 0-9 _ . -"};
}

} // namespace stint::config
