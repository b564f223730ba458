#include "config/values/match_values.hpp"

#include "base/ip_address.hpp"
#include "base/path_rules.hpp"
#include "config/values/addresses.hpp"
#include "config/values/values.hpp"

#include <algorithm>

namespace stint::config {

namespace {

std::string upper(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return out;
}

bool is_alphanumeric(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Returns true for an unreserved character of URIs (RFC 3986 section 2.3).
bool is_unreserved(char c) noexcept {
    return is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

int hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Returns true for a character of URI paths (RFC 3986 section 3.3), except "%".
bool is_path_character(char c) noexcept {
    return is_unreserved(c) || std::string_view{"/!$&'()*+,;=:@"}.find(c) != std::string_view::npos;
}

// Returns the error in the percent-escape at the beginning of the text; "" if it is valid.
std::string escape_fault(std::string_view text, PathUse use) {
    const int high = text.size() > 2 ? hex_digit(text[1]) : -1;
    const int low = text.size() > 2 ? hex_digit(text[2]) : -1;
    if (high < 0 || low < 0)
        return "has a \"%\" without two hexadecimal digits";
    const std::string escape{text.substr(0, 3)};
    const auto decoded = static_cast<char>(high * 16 + low);
    const bool pattern = use == PathUse::pattern;
    if (decoded == '\0')
        return "has %00, which is refused in requests";
    if (decoded == '\\')
        return "has %5C, which is refused in requests";
    if (decoded == '/' && pattern)
        return "has %2F; requests that would match it are refused, as a server may read \"/\"";
    if (decoded == ';' && pattern)
        return "has %3B; requests that would match it are refused, as a server may cut it off";
    if (is_unreserved(decoded) || (pattern && path_marks.find(decoded) != std::string_view::npos))
        return "has " + in_quotes(escape) + "; write " + in_quotes({&decoded, 1});
    if (escape != upper(escape))
        return "has " + in_quotes(escape) + "; write " + in_quotes(upper(escape));
    return {};
}

std::string first_fault(std::string_view path, PathUse use) {
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (std::string fault = character_fault(path.substr(i), use); !fault.empty())
            return fault;
        i += path[i] == '%' ? 2 : 0;
    }
    return {};
}

bool has_dot_segment(std::string_view path) {
    for (std::size_t start = 1; start <= path.size();) {
        const std::size_t end = std::min(path.find('/', start), path.size());
        const std::string_view segment = path.substr(start, end - start);
        if (segment == "." || segment == "..")
            return true;
        start = end + 1;
    }
    return false;
}

Parsed<std::string> parse_path_for(PathUse use, std::string_view text) {
    if (!text.starts_with('/'))
        return ParseError{
            in_quotes(text) + " does not begin with \"/\"; did you mean " +
            in_quotes(std::string{"/"}.append(text)) + '?'};
    if (const std::string fault = first_fault(text, use); !fault.empty())
        return ParseError{in_quotes(text) + ' ' + fault};
    if (text.find("//") != std::string_view::npos)
        return ParseError{
            in_quotes(text) + " has \"//\"; requests are matched with single slashes"};
    if (has_dot_segment(text))
        return ParseError{
            in_quotes(text) + " has a \".\" or \"..\" segment; requests are matched without them"};
    return std::string{text};
}

// Returns true if the parts form a valid host for a match pattern or a Host field. Ignores the
// port.
bool is_host(const HostPort& parts) {
    if (parts.bracketed)
        return is_ipv6(parts.host);
    return is_ipv4(parts.host) || is_host_name(parts.host);
}

// Returns an IPv6 address in brackets, in the spelling to which http/target.hpp normalises hosts of
// requests.
std::string canonical_literal(std::string_view address) {
    const IpText text{IpAddress::parse(address).value_or(IpAddress{})};
    return std::string{"["}.append(text.view()).append("]");
}

} // namespace

std::string lower(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return out;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return is_alphanumeric(c) ||
               std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
    });
}

Parsed<std::string> parse_host_pattern(std::string_view text) {
    constexpr std::string_view expected =
        "; expected a host such as shop.example, *.example for all below it, or * for any";
    if (text == "*")
        return std::string{text};
    const bool suffix = text.starts_with("*.");
    const std::string_view host = suffix ? text.substr(2) : text;
    const HostPort parts = split_host_port(host);
    if (is_host(parts) && !parts.has_port && !(suffix && !is_host_name(host)))
        return parts.bracketed ? canonical_literal(parts.host) : lower(text);
    if (is_host(parts) && parse_count(parts.port, 1, 65'535))
        return ParseError{in_quotes(text) + " has a port" + std::string{expected}};
    if (host.ends_with('.') && is_host_name(host.substr(0, host.size() - 1)))
        return ParseError{in_quotes(text) + " ends in a dot" + std::string{expected}};
    return ParseError{in_quotes(text) + " is not a host" + std::string{expected}};
}

std::string character_fault(std::string_view text, PathUse use) {
    const char c = text.front();
    if (c == '%')
        return escape_fault(text, use);
    if (c == '?' || c == '#')
        return "has a query or a fragment; the path alone is matched";
    if (c == ';' && use == PathUse::pattern)
        return "has \";\"; requests that would match it are refused, as a server may cut it off";
    return is_path_character(c)
               ? std::string{}
               : "has a character that paths do not have; write it as a percent-escape";
}

Parsed<std::string> parse_path(std::string_view text) {
    return parse_path_for(PathUse::pattern, text);
}

Parsed<std::string> parse_sent_path(std::string_view text) {
    return parse_path_for(PathUse::other, text);
}

Parsed<std::string> parse_method(std::string_view text) {
    if (!is_token(text))
        return ParseError{in_quotes(text) + " is not a method; expected a name such as GET"};
    if (const std::string name = upper(text); name != text)
        return ParseError{
            in_quotes(text) + " is not a method: their names are upper-case; did you mean " +
            in_quotes(name) + '?'};
    if (text == "CONNECT")
        return ParseError{in_quotes(text) + " is refused in requests, whatever their route"};
    return std::string{text};
}

Parsed<std::string> parse_log_field(std::string_view text) {
    constexpr std::string_view prefix = "header:";
    if (!text.starts_with(prefix) || !is_token(text.substr(prefix.size())))
        return ParseError{
            in_quotes(text) + " is not a field; expected header:NAME, such as header:Referer"};
    return lower(text.substr(prefix.size()));
}

Parsed<std::string> parse_host_field(std::string_view text) {
    const HostPort parts = split_host_port(text);
    if (is_host(parts) && (!parts.has_port || parse_count(parts.port, 1, 65'535)))
        return std::string{text};
    return ParseError{in_quotes(text) + " is not a host; expected HOST or HOST:port"};
}

} // namespace stint::config
