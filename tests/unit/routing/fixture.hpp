// Routes in few words: "*.example.org", "/a" (a prefix), "=/a" (exact) or "~/a+" (a regular
// expression), methods.
#pragma once

#include "routing/route_table.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::routing::test {

inline Route
route(std::string name, std::string host, std::string path, std::vector<std::string> methods = {}) {
    Route made;
    made.name = std::move(name);
    if (host == "*")
        made.match.host = {HostPattern::Kind::any, ""};
    else if (host.starts_with("*."))
        made.match.host = {HostPattern::Kind::suffix, host.substr(1)};
    else
        made.match.host = {HostPattern::Kind::exact, host};
    if (path.starts_with("="))
        made.match.path = {PathPattern::Kind::exact, path.substr(1)};
    else if (path.starts_with("~"))
        made.match.path = {
            PathPattern::Kind::regex, path.substr(1), *Regex::compile(path.substr(1))};
    else
        made.match.path = {PathPattern::Kind::prefix, path};
    made.match.methods = std::move(methods);
    return made;
}

// The name of the route that is found; "404" or "405" where there is none.
inline std::string found(
    const RouteTable& table,
    std::string_view host,
    std::string_view path,
    std::string_view method = "GET") {
    const MatchResult result = table.match(host, path, method);
    if (result.route != nullptr)
        return result.path_matched ? result.route->name : "a route without a path";
    return result.path_matched ? "405" : "404";
}

} // namespace stint::routing::test
