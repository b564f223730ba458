#include "config/values/path_regex.hpp"

#include "config/values/values.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stint::config {

namespace {

constexpr std::size_t longest_regex = 1024;

struct Token {
    enum class Kind : std::uint8_t { literal, open, close, choice, repeat, other, unknown };
    Kind kind;
    std::size_t size; // number of characters in the pattern
    char literal = 0;
};

// Parses a "\" and the next character, which is literal unless it is a letter, a digit or "_".
Token escape_at(std::string_view rest) {
    const char c = rest.size() > 1 ? rest[1] : 'x';
    if (std::string_view{"dDsSwWbBAz"}.find(c) != std::string_view::npos)
        return {Token::Kind::other, 2};
    const bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (word || c <= ' ' || c > '~')
        return {Token::Kind::unknown, rest.size()};
    return {Token::Kind::literal, 2, c};
}

// Parses a character class. A "]" does not close the class if it comes first or is part of
// "[:alpha:]".
Token class_at(std::string_view rest) {
    std::size_t at = rest.starts_with("[^") ? 2 : 1;
    bool first = true;
    while (at < rest.size() && (first || rest[at] != ']')) {
        first = false;
        const std::size_t end =
            rest.substr(at).starts_with("[:") ? rest.find(":]", at + 2) : std::string_view::npos;
        if (end != std::string_view::npos)
            at = end + 2;
        else
            at += rest[at] == '\\' ? 2 : 1;
    }
    return {Token::Kind::other, std::min(at + 1, rest.size())};
}

// Parses a repetition such as "{2,3}". Treats a literal "{" as a repetition, too, which only makes
// required_texts() return less.
Token braces_at(std::string_view rest) {
    const std::size_t end = rest.find_first_not_of("0123456789,", 1);
    const bool closed = end != std::string_view::npos && rest[end] == '}';
    return {Token::Kind::repeat, closed ? end + 1 : 1};
}

Token token_at(std::string_view rest) {
    switch (rest.front()) {
    case '\\':
        return escape_at(rest);
    case '[':
        return class_at(rest);
    case '(':
        return {Token::Kind::open, 1};
    case ')':
        return {Token::Kind::close, 1};
    case '|':
        return {Token::Kind::choice, 1};
    case '*':
    case '+':
    case '?':
        return {Token::Kind::repeat, 1};
    case '{':
        return braces_at(rest);
    case '.':
    case '^':
    case '$':
        return {Token::Kind::other, 1};
    default:
        return {Token::Kind::literal, 1, rest.front()};
    }
}

bool has_flags(std::string_view pattern) {
    for (std::size_t at = 0; (at = pattern.find("(?", at)) != std::string_view::npos; ++at)
        if (!pattern.substr(at).starts_with("(?:"))
            return true;
    return pattern.find("\\Q") != std::string_view::npos;
}

// Returns the reason why no normalised path can contain the text; "" if one may.
std::string absence_fault(std::string_view text, PathUse use, const PathRules& rules) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string_view rest = text.substr(at);
        const bool cut = rest.front() == '%' && rest.size() < 3; // escape cut off at the end
        if (std::string fault = cut ? "" : character_fault(rest, use); !fault.empty())
            return fault;
        if (rest.starts_with("//") && rules.merge_slashes)
            return "has \"//\"; paths are matched with single slashes";
    }
    return {};
}

} // namespace

std::vector<std::string> required_texts(std::string_view pattern) {
    using Kind = Token::Kind;
    if (has_flags(pattern))
        return {};
    std::vector<std::string> texts(1); // the last text may still grow
    std::size_t depth = 0;
    for (std::size_t at = 0; at < pattern.size();) {
        const Token token = token_at(pattern.substr(at));
        at += token.size;
        if (token.kind == Kind::unknown || (token.kind == Kind::choice && depth == 0))
            return {};
        if (token.kind == Kind::literal && depth == 0) {
            texts.back() += token.literal;
            continue;
        }
        if (token.kind == Kind::repeat && !texts.back().empty())
            texts.back().pop_back(); // the repeated character may occur any number of times
        if (!texts.back().empty())
            texts.emplace_back();
        depth += token.kind == Kind::open ? 1 : 0;
        depth -= token.kind == Kind::close && depth > 0 ? 1 : 0;
    }
    std::erase(texts, "");
    return texts;
}

Parsed<Regex> parse_path_regex(std::string_view text, PathUse use, const PathRules& rules) {
    const bool printable =
        std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (text.size() > longest_regex)
        return ParseError{"the regular expression is longer than 1 KiB"};
    if (!printable)
        return ParseError{
            in_quotes(text) + " has a character that paths do not have; write it as a "
                              "percent-escape"};
    const auto regex = Regex::compile(text);
    if (!regex)
        return ParseError{
            in_quotes(text) + " is not a regular expression: " + regex.error().why +
            "; expected one in the syntax of RE2, which has no look-around"};
    if (!regex->may_begin_with('/'))
        return ParseError{
            in_quotes(text) + " matches no path: all of it is matched, and paths begin with \"/\""};
    for (const std::string& required : required_texts(text))
        if (const std::string fault = absence_fault(required, use, rules); !fault.empty())
            return ParseError{in_quotes(text) + " matches no path: it " + fault};
    return *regex;
}

} // namespace stint::config
