#include "http/request_line.hpp"

#include "base/ip_address.hpp"
#include "http/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace stint::http {

namespace {

// Bytes of a method, blanks and a version at most, as assumed for a line whose end has not come.
constexpr std::size_t room_around_target = 64;

constexpr auto target_chars = [] {
    std::array<bool, 256> allowed{};
    for (std::size_t c = 0x21; c < 0x7f; ++c)
        allowed[c] =
            std::string_view{"\"#<>\\"}.find(static_cast<char>(c)) == std::string_view::npos;
    return allowed;
}();

bool valid_target_chars(std::string_view target) noexcept {
    return std::all_of(target.begin(), target.end(), [](char c) {
        return target_chars[static_cast<unsigned char>(c)];
    });
}

// Splits the part of a target that follows the authority. slash: the path to return if there is
// none.
TargetParts split_path(std::string_view text, std::string_view slash) noexcept {
    TargetParts parts;
    const std::size_t mark = text.find('?');
    parts.path = text.substr(0, mark);
    parts.query = mark == std::string_view::npos ? text.substr(text.size()) : text.substr(mark + 1);
    if (parts.path.empty())
        parts.path = slash;
    return parts;
}

Result<TargetParts, HeadError> split_absolute(std::string_view target) noexcept {
    const std::size_t colon = target.find("://");
    const std::string_view scheme = target.substr(0, colon);
    if (colon == std::string_view::npos ||
        !(ascii::equals_folded(scheme, "http") || ascii::equals_folded(scheme, "https")))
        return HeadError{400, "The request target is neither a path nor an http URI."};
    const std::string_view rest = target.substr(colon + 3);
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    const std::string_view authority = rest.substr(0, end);
    if (authority.empty() || !valid_authority(authority))
        return HeadError{
            400, "The request target's authority is not a host with an optional port."};
    TargetParts parts = split_path(rest.substr(end), target.substr(colon + 2, 1));
    parts.authority = authority;
    return parts;
}

bool valid_name(std::string_view name) noexcept {
    if (name.ends_with('.'))
        name.remove_suffix(1);
    return !name.empty() && name.front() != '.' && name.back() != '.' &&
           name.find("..") == std::string_view::npos && ascii::host_name.contains_all(name);
}

// port: with its colon, or empty. True for an empty port or one from 1 to 65535.
bool valid_port(std::string_view port) noexcept {
    if (port.empty() || port == ":")
        return true;
    const std::string_view digits = port.substr(1);
    if (port.front() != ':' || digits.size() > 5 || !ascii::digit.contains_all(digits))
        return false;
    unsigned number = 0;
    for (const char digit : digits)
        number = number * 10 + static_cast<unsigned>(digit - '0');
    return number >= 1 && number <= 65'535;
}

} // namespace

Result<TargetParts, HeadError>
split_target(std::string_view method, std::string_view target) noexcept {
    if (ascii::equals_folded(method, "connect"))
        return HeadError{405, "Stint is no forward proxy: it does not serve CONNECT."};
    if (!valid_target_chars(target))
        return HeadError{400, "The request target has a character that must be percent-encoded."};
    if (target.starts_with('/'))
        return split_path(target, {});
    if (target != "*")
        return split_absolute(target);
    if (method != "OPTIONS")
        return HeadError{400, "The request target \"*\" is for OPTIONS only."};
    return TargetParts{target, target.substr(1), {}};
}

bool valid_authority(std::string_view authority) noexcept {
    if (authority.empty())
        return true;
    if (!authority.starts_with('[')) {
        const std::size_t end = std::min(authority.find(':'), authority.size());
        return valid_name(authority.substr(0, end)) && valid_port(authority.substr(end));
    }
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos)
        return false;
    const std::string_view literal = authority.substr(1, end - 1);
    return literal.find(':') != std::string_view::npos && IpAddress::parse(literal) &&
           valid_port(authority.substr(end + 1));
}

bool target_too_long(std::string_view data, std::size_t max_target) noexcept {
    const std::size_t end = data.find('\n');
    if (end == std::string_view::npos)
        return data.size() > max_target + room_around_target;
    const std::string_view line = data.substr(0, end);
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    return first != last && last - first - 1 > max_target;
}

} // namespace stint::http
