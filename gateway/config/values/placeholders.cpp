#include "config/values/placeholders.hpp"

#include "base/text_template.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>

namespace stint::config {

namespace {

constexpr std::size_t longest_value = 4096;
constexpr std::size_t longest_target = 2048;

bool is_word(std::string_view text) {
    if (text.starts_with('?'))
        text.remove_prefix(1);
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || c == '_';
    });
}

bool is_printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_uri_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"-._~:/?#[]@!$&'()*+,;=%"}.find(c) != std::string_view::npos;
}

// Returns the target with valid sample text in place of its placeholders, so that it can be checked
// as a URI.
std::string filled_in(std::string_view text) {
    std::string filled{text};
    for (const std::string_view placeholder : target_placeholders) {
        const std::string_view sample = placeholder == "{path}"     ? "/x"
                                        : placeholder == "{?query}" ? "?x"
                                                                    : "x";
        for (std::size_t at = 0; (at = filled.find(placeholder)) != std::string::npos;)
            filled.replace(at, placeholder.size(), sample);
    }
    return filled;
}

// Returns true if the text behind "https://" begins with a host; "", ":80" and "user@" have none.
bool leads_to_host(std::string_view behind_scheme) {
    std::string_view host = behind_scheme.substr(0, behind_scheme.find_first_of("/?#"));
    host.remove_prefix(host.rfind('@') + 1); // without "@" removes nothing: npos + 1 is 0
    return !host.empty() && !host.starts_with(':');
}

} // namespace

std::string placeholder_fault(std::string_view text, std::span<const std::string_view> known) {
    for (std::size_t open = 0; (open = text.find('{', open)) != std::string_view::npos; ++open) {
        const std::size_t close = text.find('}', open);
        if (close == std::string_view::npos)
            break;
        const std::string_view whole = text.substr(open, close + 1 - open);
        if (std::find(known.begin(), known.end(), whole) != known.end() ||
            !is_word(whole.substr(1, whole.size() - 2)))
            continue;
        const std::string hint = did_you_mean(whole, known);
        return std::string{whole}
            .append(" is no placeholder")
            .append(hint.empty() ? "; expected " + listed(known, "or") : hint);
    }
    return {};
}

Parsed<std::string> parse_answer_text(std::string_view text, std::size_t most) {
    if (text.size() > most)
        return ParseError{"the body is longer than " + std::to_string(most / 1024) + " KiB"};
    if (std::string fault = placeholder_fault(text, field_placeholders); !fault.empty())
        return ParseError{std::move(fault)};
    return std::string{text};
}

// The error messages do not quote the value, because it may be a secret.
Parsed<std::string> parse_field_value(std::string_view text) {
    if (text.empty())
        return ParseError{"is empty; to leave a field out, name it in remove_headers"};
    if (text.size() > longest_value)
        return ParseError{"the value is longer than 4 KiB"};
    if (!is_printable(text))
        return ParseError{
            "the value has a line end, another control character or one beyond ASCII"};
    if (text.front() == ' ' || text.back() == ' ')
        return ParseError{"the value has a blank at its beginning or end"};
    if (std::string fault = placeholder_fault(text, field_placeholders); !fault.empty())
        return ParseError{std::move(fault)};
    return std::string{text};
}

bool shows_no_secret(std::string_view written, std::string_view filled_in) {
    constexpr std::array<std::string_view, 3> schemes{"Basic ", "Bearer ", "Token "};
    std::string_view rest = written.empty() ? filled_in : written;
    for (const std::string_view scheme : schemes)
        if (rest.starts_with(scheme))
            rest.remove_prefix(scheme.size());
    while (!rest.empty()) {
        const std::string_view part = rest.substr(0, rest.find('}') + 1);
        const bool variable =
            !written.empty() && part.starts_with("${") && part.find(":-") == std::string_view::npos;
        if (!variable && std::ranges::find(field_placeholders, part) == field_placeholders.end())
            return false;
        rest.remove_prefix(part.size());
    }
    return true;
}

Parsed<std::string> parse_content_type(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (is_printable(text) && text.size() <= longest_name * 2 && slash != std::string_view::npos &&
        slash > 0 && slash + 1 < text.size())
        return std::string{text};
    return ParseError{in_quotes(text) + " is not a content type; expected one such as text/html"};
}

Parsed<std::string> parse_redirect_target(std::string_view text) {
    if (text.size() > longest_target)
        return ParseError{"the target is longer than 2 KiB"};
    if (std::string fault = placeholder_fault(text, target_placeholders); !fault.empty())
        return ParseError{std::move(fault)};
    const std::string target = filled_in(text);
    if (!std::all_of(target.begin(), target.end(), is_uri_character))
        return ParseError{in_quotes(text) + " has a character that must be percent-encoded"};
    const bool path = target.starts_with('/') && !target.starts_with("//");
    const std::size_t scheme = target.starts_with("https://")  ? 8
                               : target.starts_with("http://") ? 7
                                                               : 0;
    const bool whole = scheme > 0 && leads_to_host(std::string_view{target}.substr(scheme));
    if (path || whole)
        return std::string{text};
    return ParseError{
        in_quotes(text) + " is no target; expected a path, or http:// or https:// and a "
                          "host, such as https://shop.example{path}{?query}"};
}

} // namespace stint::config
