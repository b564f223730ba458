#include "http/target.hpp"

#include "base/ip_address.hpp"
#include "http/ascii.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::http {

namespace {

constexpr HeadError climbs{400, "The request target climbs above the root."};

constexpr bool is_upper(char c) noexcept {
    return c >= 'A' && c <= 'Z';
}

// Characters that no path may have (RFC 3986 section 3.3), though clients send them. They mean the
// same as their escapes.
constexpr ascii::CharSet unescaped{"[]^`{|}"};
constexpr ascii::CharSet unusual{"%;[]^`{|}"};

// True if a path may need normalising: an escape or an unescaped character, parameters, a run of
// slashes, or a segment that begins with a dot.
bool looks_unusual(std::string_view path) noexcept {
    char previous = 'a';
    for (const char c : path) {
        if (unusual.contains(c) || (previous == '/' && (c == '/' || c == '.')))
            return true;
        previous = c;
    }
    return false;
}

void append_escape(std::string& out, char c) {
    constexpr std::string_view upper_hex = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += upper_hex[byte >> 4];
    out += upper_hex[byte & 0xf];
}

// Appends the path in one spelling: decodes characters that need no escape, escapes all others, in
// upper case.
Result<void, HeadError> spell_in_one_way(std::string_view path, std::string& out) {
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] != '%') {
            if (unescaped.contains(path[i]))
                append_escape(out, path[i]);
            else
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
        if (decoded == '\\')
            return HeadError{400, "The request target has an escaped backslash."};
        if (ascii::unreserved.contains(decoded))
            out += decoded;
        else
            append_escape(out, decoded);
        i += 2;
    }
    return {};
}

enum class Resolved : std::uint8_t { without_dots, with_dots, above_root };

// Resolves "." and ".." in place, and merges runs of "/" if `merge`.
Resolved resolve_segments(std::string& path, bool merge) {
    Resolved result = Resolved::without_dots;
    std::size_t out = 0; // end of the resolved part: "/segment" any number of times
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t begin =
            merge ? std::min(path.find_first_not_of('/', at), path.size()) : at + 1;
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view segment = std::string_view{path}.substr(begin, end - begin);
        const bool dots = segment == "." || segment == "..";
        if (dots)
            result = Resolved::with_dots;
        if (segment == "..") {
            if (out == 0)
                return Resolved::above_root;
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
    return result;
}

constexpr ascii::CharSet marks{path_marks};

// Returns the character that the escape at `at` stands for.
char escaped_at(std::string_view path, std::size_t at) noexcept {
    return static_cast<char>(ascii::hex_value(path[at + 1]) * 16 + ascii::hex_value(path[at + 2]));
}

// Decodes escapes in place, as far as servers of this reading do. path: with well-formed escapes.
void decode(std::string& path, PathReading reading) {
    const bool slashes = has(reading, PathReading::decoded_slashes);
    const bool with_marks = has(reading, PathReading::decoded_marks);
    const bool cuts = has(reading, PathReading::cut_parameters);
    std::size_t out = 0;
    for (std::size_t at = 0; at < path.size(); ++at) {
        char c = path[at];
        if (c == '%') {
            const char escaped = escaped_at(path, at);
            if ((slashes && escaped == '/') || (with_marks && marks.contains(escaped)) ||
                (cuts && escaped == ';')) {
                c = escaped;
                at += 2;
            }
        }
        path[out++] = c;
    }
    path.resize(out);
}

// Returns the readings that would change the path. path: with well-formed escapes.
PathReading ambiguity_of(std::string_view path) noexcept {
    PathReading found = PathReading::plain;
    bool in_parameters = false;
    for (std::size_t at = 0; at < path.size(); ++at) {
        const char escaped = path[at] == '%' ? escaped_at(path, at) : '\0';
        if (path[at] == ';' || escaped == ';')
            found = found | PathReading::cut_parameters;
        if (path[at] == ';' || path[at] == '/')
            in_parameters = path[at] == ';';
        if (escaped == '/')
            found = found | PathReading::decoded_slashes |
                    (in_parameters ? PathReading::cut_first : PathReading::plain);
        else if (marks.contains(escaped))
            found = found | PathReading::decoded_marks;
    }
    return found;
}

void cut_parameters(std::string& path) {
    bool kept = true;
    std::erase_if(path, [&kept](char c) {
        kept = c == '/' || (kept && c != ';');
        return !kept;
    });
}

std::string_view normalise_literal(std::string_view authority, std::string& scratch) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos)
        return authority;
    const auto address = IpAddress::parse(authority.substr(1, end - 1));
    if (!address)
        return authority;
    scratch = '[';
    scratch += IpText{*address}.view();
    scratch += ']';
    return scratch;
}

} // namespace

std::string_view normalise_host(std::string_view authority, std::string& scratch) {
    if (authority.starts_with('['))
        return normalise_literal(authority, scratch);
    std::string_view host = authority.substr(0, authority.find(':'));
    if (host.ends_with('.'))
        host.remove_suffix(1);
    if (std::none_of(host.begin(), host.end(), is_upper))
        return host;
    scratch.assign(host);
    std::transform(scratch.begin(), scratch.end(), scratch.begin(), ascii::lower);
    return scratch;
}

Result<NormalPath, HeadError>
normalise_path(std::string_view path, const PathRules& rules, std::string& scratch) {
    if (!path.starts_with('/') || !looks_unusual(path)) [[likely]]
        return NormalPath{path};
    scratch.clear();
    if (const auto spelt = spell_in_one_way(path, scratch); !spelt)
        return spelt.error();
    const PathReading ambiguous = ambiguity_of(scratch);
    if (rules.refuse_encoded_slashes && has(ambiguous, PathReading::decoded_slashes))
        return HeadError{400, "The request target has an escaped slash."};
    const Resolved resolved = resolve_segments(scratch, rules.merge_slashes);
    if (resolved == Resolved::above_root)
        return climbs;
    const bool like_authority = rules.merge_slashes && path.starts_with("//");
    return NormalPath{
        scratch == path ? path : std::string_view{scratch},
        resolved == Resolved::with_dots || like_authority, ambiguous};
}

Result<std::string, HeadError>
read_path(std::string_view path, const PathRules& rules, PathReading reading) {
    std::string out;
    if (const auto spelt = spell_in_one_way(path, out); !spelt)
        return spelt.error();
    if (has(reading, PathReading::cut_first))
        cut_parameters(out);
    decode(out, reading);
    if (has(reading, PathReading::cut_parameters))
        cut_parameters(out);
    if (resolve_segments(out, rules.merge_slashes) == Resolved::above_root)
        return climbs;
    return out;
}

} // namespace stint::http
