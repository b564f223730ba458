#include "config/values/match_values.hpp"
#include "import/draft/matches.hpp"

#include <algorithm>

namespace stint::import_nginx {

namespace {

// Reads over a pattern and keeps count of groups and classes.
class PatternScan {
  public:
    // Returns true if the character at `at` is one of the pattern's own outside of all groups and
    // classes.
    bool at_top(std::string_view pattern, std::size_t at) {
        const char c = pattern[at];
        if (escaped_) {
            escaped_ = false;
            return false;
        }
        escaped_ = c == '\\';
        if (escaped_)
            return false;
        if (in_class_) {
            in_class_ = c != ']' || at == class_begin_;
            return false;
        }
        if (c == '[') {
            in_class_ = true;
            class_begin_ = at + (pattern.substr(at + 1).starts_with('^') ? 2 : 1);
            return false;
        }
        if (c == ')' && depth_ > 0)
            --depth_;
        const bool top = depth_ == 0;
        if (c == '(')
            ++depth_;
        return top;
    }

  private:
    bool escaped_ = false;
    bool in_class_ = false;
    std::size_t class_begin_ = 0; // a "]" here is a member of the class
    std::size_t depth_ = 0;
};

bool has_alternatives(std::string_view pattern) {
    PatternScan scan;
    bool found = false;
    for (std::size_t i = 0; i < pattern.size(); ++i)
        found = (scan.at_top(pattern, i) && pattern[i] == '|') || found;
    return found;
}

bool ends_with_anchor(std::string_view pattern) {
    PatternScan scan;
    bool top = false;
    for (std::size_t i = 0; i < pattern.size(); ++i)
        top = scan.at_top(pattern, i);
    return top && pattern.ends_with('$');
}

// Names of groups, which RE2 spells otherwise than PCRE.
std::string with_named_groups(std::string_view pattern) {
    std::string out;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const std::string_view rest = pattern.substr(i);
        const bool named = rest.starts_with("(?<") && rest.size() > 3 && rest[3] != '=' &&
                           rest[3] != '!' && (i == 0 || pattern[i - 1] != '\\');
        out += named ? "(?P<" : rest.substr(0, 1);
        i += named ? 2 : 0;
    }
    return out;
}

} // namespace

std::string whole_path_regex(std::string_view pattern, bool ignore_case) {
    std::string text = with_named_groups(pattern);
    const std::string flags = ignore_case ? "(?i)" : "";
    if (has_alternatives(text))
        return flags + ".*(?:" + text + ").*";
    const bool anchored = text.starts_with('^');
    if (anchored)
        text.erase(0, 1);
    const bool ends = ends_with_anchor(text);
    if (ends)
        text.pop_back();
    const bool open = text.ends_with(".*") && !text.ends_with("\\.*");
    return flags + (anchored || text.starts_with(".*") ? "" : ".*") + text +
           (ends || open ? "" : ".*");
}

std::string encoded_path(std::string_view path) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto byte = static_cast<unsigned char>(path[i]);
        const std::string_view character = path.substr(i, 1);
        if (character != "%" &&
            config::character_fault(character, config::PathUse::other).empty()) {
            out += character;
            continue;
        }
        out += '%';
        out += digits[byte >> 4U];
        out += digits[byte & 0xFU];
    }
    return out;
}

std::string escaped_for_regex(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view{"\\.+*?()|[]{}^$"}.find(c) != std::string_view::npos)
            out += '\\';
        out += c;
    }
    return out;
}

} // namespace stint::import_nginx
