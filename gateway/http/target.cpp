#include "http/target.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::http {

namespace {

constexpr bool is_upper(char c) noexcept {
    return c >= 'A' && c <= 'Z';
}

// Whether a path may need work: an escape, a run of slashes, or a segment that begins with a dot.
bool looks_unusual(std::string_view path) noexcept {
    char previous = 'a';
    for (const char c : path) {
        if (c == '%' || (previous == '/' && (c == '/' || c == '.')))
            return true;
        previous = c;
    }
    return false;
}

// Decodes what needs no escape and spells the remaining escapes in one way.
Result<void, HeadError> decode_unreserved(std::string_view path, std::string& out) {
    constexpr std::string_view upper_hex = "0123456789ABCDEF";
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] != '%') {
            out += path[i];
            continue;
        }
        const int high = i + 2 < path.size() ? ascii::hex_value(path[i + 1]) : -1;
        const int low = i + 2 < path.size() ? ascii::hex_value(path[i + 2]) : -1;
        if (high < 0 || low < 0)
            return HeadError{400, "The request target has a malformed percent-escape."};
        const char decoded = static_cast<char>(high * 16 + low);
        if (decoded == '\0')
            return HeadError{400, "The request target has an escaped NUL."};
        if (ascii::unreserved.contains(decoded)) {
            out += decoded;
        } else {
            out += '%';
            out += upper_hex[static_cast<std::size_t>(high)];
            out += upper_hex[static_cast<std::size_t>(low)];
        }
        i += 2;
    }
    return {};
}

// Merges runs of "/" and resolves "." and ".." in place; false where ".." climbs above the root.
bool resolve_segments(std::string& path) {
    std::size_t out = 0; // what is before it is resolved: "/segment" any number of times
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t begin = std::min(path.find_first_not_of('/', at), path.size());
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view segment = std::string_view{path}.substr(begin, end - begin);
        const bool dots = segment == "." || segment == "..";
        if (segment == "..") {
            if (out == 0)
                return false;
            out = path.rfind('/', out - 1);
        }
        if (!dots || end == path.size())
            path[out++] = '/';
        if (!dots) {
            std::copy(
                segment.begin(), segment.end(), path.begin() + static_cast<std::ptrdiff_t>(out));
            out += segment.size();
        }
        at = end;
    }
    path.resize(out);
    return true;
}

} // namespace

std::string_view normalise_host(std::string_view authority, std::string& scratch) {
    const std::size_t literal_end = authority.starts_with('[') ? authority.find(']') : 0;
    std::string_view host = authority.substr(0, authority.find(':', literal_end));
    if (host.ends_with('.'))
        host.remove_suffix(1);
    if (std::none_of(host.begin(), host.end(), is_upper))
        return host;
    scratch.assign(host);
    std::transform(scratch.begin(), scratch.end(), scratch.begin(), ascii::lower);
    return scratch;
}

Result<std::string_view, HeadError> normalise_path(std::string_view path, std::string& scratch) {
    if (!path.starts_with('/') || !looks_unusual(path)) [[likely]]
        return path;
    scratch.clear();
    if (const auto decoded = decode_unreserved(path, scratch); !decoded)
        return decoded.error();
    if (!resolve_segments(scratch))
        return HeadError{400, "The request target climbs above the root."};
    if (scratch == path)
        return path;
    return std::string_view{scratch};
}

} // namespace stint::http
