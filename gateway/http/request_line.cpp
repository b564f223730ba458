#include "http/request_line.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace stint::http {

namespace {

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

// Splits what follows the authority; `slash` stands in for an absent path.
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

} // namespace

Result<TargetParts, HeadError>
split_target(std::string_view method, std::string_view target) noexcept {
    if (method == "CONNECT" || method == "TRACE")
        return HeadError{405, "This gateway serves neither CONNECT nor TRACE."};
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
    std::size_t host_end = 0;
    if (authority.starts_with('[')) {
        host_end = authority.find(']');
        if (host_end == std::string_view::npos || host_end < 3)
            return false;
        const std::string_view literal = authority.substr(1, host_end - 1);
        if (!std::all_of(literal.begin(), literal.end(), [](char c) {
                return ascii::hex_value(c) >= 0 || c == ':' || c == '.';
            }))
            return false;
        ++host_end;
    } else {
        host_end = std::min(authority.find(':'), authority.size());
        if (!ascii::registered_name.contains_all(authority.substr(0, host_end)))
            return false;
    }
    const std::string_view port = authority.substr(host_end);
    return port.empty() ||
           (port.front() == ':' && port.size() <= 6 && ascii::digit.contains_all(port.substr(1)));
}

} // namespace stint::http
