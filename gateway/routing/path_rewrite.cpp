#include "routing/path_rewrite.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::routing {

namespace {

bool begins_with_segments(std::string_view path, std::string_view prefix) noexcept {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

// As RFC 3986 section 5.2.4 does it: what climbs above the root stays there.
void remove_dot_segments(std::string& path) {
    std::string resolved;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at + 1), path.size());
        const std::string_view segment = std::string_view{path}.substr(at, end - at);
        const bool last = end == path.size();
        if (segment == "/..")
            resolved.resize(std::min(resolved.rfind('/'), resolved.size()));
        if (segment != "/." && segment != "/..")
            resolved += segment;
        else if (last)
            resolved += '/';
        at = end;
    }
    path = std::move(resolved);
}

void make_path(std::string& text) {
    if (!text.starts_with('/'))
        text.insert(0, 1, '/');
    if (text.find("/.") != std::string::npos)
        remove_dot_segments(text); // which may uncover slashes
    text.erase(0, std::min(text.find_first_not_of('/'), text.size()) - 1);
}

} // namespace

void PathRewrite::apply(std::string_view path, std::string& out) const {
    switch (kind) {
    case Kind::prefix:
        if (begins_with_segments(path, from)) {
            out.assign(to).append(path.substr(from.size()));
            return make_path(out);
        }
        break;
    case Kind::whole:
        out = to;
        return;
    case Kind::regex:
        if (regex->rewrite(path, to, out))
            return make_path(out);
        break;
    }
    out = path;
}

} // namespace stint::routing
