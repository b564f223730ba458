#include "routing/path_rewrite.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::routing {

namespace {

bool begins_with_segments(std::string_view path, std::string_view prefix) noexcept {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

// Removes dot segments in place, as RFC 3986 section 5.2.4 does. A segment that climbs above the
// root stays at the root.
void remove_dot_segments(std::string& path) {
    std::size_t out = 0; // end of the resolved part: "/segment" any number of times
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at + 1), path.size());
        const std::string_view segment = std::string_view{path}.substr(at, end - at);
        const bool climbs = segment == "/..";
        if (climbs && out > 0)
            out = path.rfind('/', out - 1);
        if (!climbs && segment != "/.") {
            std::char_traits<char>::move(path.data() + out, segment.data(), segment.size());
            out += segment.size();
        } else if (end == path.size()) {
            path[out++] = '/';
        }
        at = end;
    }
    path.resize(out);
}

void make_path(std::string& text) {
    if (!text.starts_with('/'))
        text.insert(0, 1, '/');
    if (text.find("/.") != std::string::npos)
        remove_dot_segments(text); // dropped segments may leave several slashes at the front
    text.erase(0, std::min(text.find_first_not_of('/'), text.size()) - 1);
}

// True if `at` is inside a percent-escape. path: normalised, so that each "%" begins an escape.
bool cuts_escape(std::string_view path, std::size_t at) noexcept {
    return (at >= 1 && path[at - 1] == '%') || (at >= 2 && path[at - 2] == '%');
}

// Writes `to`, with its references replaced by the groups, into `out`. Returns false if a group
// contains only a part of a percent-escape. groups: views of `path`.
bool fill_in(
    std::string_view to, std::string_view path, const Regex::Groups& groups, std::string& out) {
    out.clear();
    for (std::size_t at = 0; at < to.size(); ++at) {
        if (to[at] != '\\' || to[++at] == '\\') {
            out += to[at];
            continue;
        }
        const std::string_view group = groups[static_cast<std::size_t>(to[at] - '0')];
        if (group.empty())
            continue;
        const auto begin = static_cast<std::size_t>(group.data() - path.data());
        if (cuts_escape(path, begin) || cuts_escape(path, begin + group.size()))
            return false;
        out += group;
    }
    return true;
}

} // namespace

bool PathRewrite::apply(std::string_view path, std::string& out) const {
    if (kind == Kind::prefix && begins_with_segments(path, from)) {
        out.assign(to).append(path.substr(from.size()));
        make_path(out);
        return true;
    }
    Regex::Groups groups;
    if (kind == Kind::regex && regex->match_groups(path, to, groups)) {
        const bool whole = fill_in(to, path, groups, out);
        if (!whole)
            out.clear();
        make_path(out);
        return whole;
    }
    out = kind == Kind::whole ? std::string_view{to} : path;
    return true;
}

} // namespace stint::routing
