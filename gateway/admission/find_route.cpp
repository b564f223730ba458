#include "admission/find_route.hpp"

#include "admission/rewritten_path.hpp"
#include "http/target.hpp"

#include <utility>

namespace stint::admission {
namespace {

// Returns true if another server, which reads the path as `read`, means the same request as the
// gateway: `read` matches the same route as found.path, and the route's rewrite sends both to the
// same path (means_the_same()).
bool agrees(
    const FoundRoute& found,
    const routing::Snapshot& snapshot,
    std::string_view method,
    std::string_view read,
    const PathRules& rules,
    http::PathReading reading) {
    const routing::Route* const route = found.match.route;
    const routing::MatchResult other = snapshot.routes.match(found.host, read, method);
    if (other.route != route || other.path_matched != found.match.path_matched)
        return false;
    return route == nullptr || route->shape == nullptr || !route->shape->path ||
           means_the_same(*route->shape->path, found.path, read, rules, reading);
}

// Returns an error (400) if one of the `ambiguous` readings of the path has another route, or
// another path after the rewrite. If the configuration merges slashes, readings that may uncover
// dot segments are also checked unmerged, because some servers resolve dot segments first. If there
// is no error, sets found.path to the last reading, so that all spellings of a path share one key.
Result<void, http::HeadError> agree_on(
    FoundRoute& found,
    const routing::Snapshot& snapshot,
    const RequestHead& head,
    http::PathReading ambiguous,
    std::string& path_scratch) {
    const bool merges = snapshot.paths.merge_slashes;
    std::string path;
    for (const http::PathReading reading : http::path_readings) {
        for (const bool merge : {false, true}) {
            const bool asked =
                merge == merges || (merges && reading != http::PathReading::decoded_marks);
            if (!asked || !has(ambiguous, reading))
                continue;
            const PathRules rules{.merge_slashes = merge};
            auto read = http::read_path(head.path, rules, reading);
            if (!read)
                return read.error();
            path = *std::move(read);
            if (!agrees(found, snapshot, head.method, path, rules, reading))
                return http::HeadError{
                    400, "Servers may take an escape or \";\" in the path for another path."};
        }
    }
    path_scratch = std::move(path);
    found.path = path_scratch;
    return {};
}

// True if the route's rewrite turns the path into a valid path. path: normalised.
bool can_be_rewritten(const routing::Route* route, std::string_view path) {
    if (route == nullptr || route->shape == nullptr || !route->shape->path) [[likely]]
        return true;
    const routing::PathRewrite& rewrite = *route->shape->path;
    if (rewrite.kind != routing::PathRewrite::Kind::regex ||
        path.find('%') == std::string_view::npos)
        return true;
    std::string sent;
    return rewrite.apply(path, sent);
}

} // namespace

Result<FoundRoute, http::HeadError> find_route(
    const routing::Snapshot& snapshot,
    const RequestHead& head,
    std::string& host_scratch,
    std::string& path_scratch) {
    const auto path = http::normalise_path(head.path, snapshot.paths, path_scratch);
    if (!path)
        return path.error();
    FoundRoute found;
    found.host = http::normalise_host(head.authority, host_scratch);
    found.path = path->text;
    found.forward_path = path->forward;
    found.match = snapshot.routes.match(found.host, found.path, head.method);
    if (!can_be_rewritten(found.match.route, found.path))
        return http::HeadError{400, "The path cannot be rewritten: it would be cut in an escape."};
    if (path->ambiguous != http::PathReading::plain) [[unlikely]] {
        const auto agreed = agree_on(found, snapshot, head, path->ambiguous, path_scratch);
        if (!agreed)
            return agreed.error();
    }
    return found;
}

bool asks_forward_proxy(
    const routing::Snapshot& snapshot, const RequestHead& head, std::string_view host) {
    if (head.target.starts_with('/') || head.target == "*") [[likely]]
        return false;
    return !snapshot.paths.routes_absolute_form && !snapshot.routes.names_host(host);
}

} // namespace stint::admission
