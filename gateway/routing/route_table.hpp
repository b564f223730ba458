// Finds the most specific route of a request; the cost is independent of the number of routes.
#pragma once

#include "routing/route.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stint::routing {

struct MatchResult {
    const Route* route = nullptr; // valid as long as the table
    bool path_matched = false;    // a route has this host and path; without a `route`: 405, not 404
};

// Immutable once built; any number of threads may match at once. Copies share the routes.
class RouteTable {
  public:
    RouteTable();
    // Builds the table. If two routes match the same requests with equal precedence, the first
    // wins; the loader refuses such configurations.
    explicit RouteTable(std::vector<Route> routes);

    // Returns the most specific of all routes that match host, path and method. Precedence by host:
    // exact, then the longest suffix, then any. Then by path: exact, then the first matching
    // regular expression (in the order of the routes), then the longest prefix. Then by method: a
    // route that names its methods before one that takes any. The case of a method does not matter;
    // HEAD is not GET, and TRACE matches only routes that name it. If no route of the more specific
    // host matches, routes of less specific hosts are tried. host: lower case, no port, no trailing
    // dot. path: normalised, begins with "/"; "*" (OPTIONS for the server as a whole) matches only
    // routes with the prefix "/". Allocates only where Regex::matches() does. O(labels of host *
    // length of path), and once the path for each regular expression of a host that matches.
    [[nodiscard]] MatchResult
    match(std::string_view host, std::string_view path, std::string_view method) const;

    // True if a route names this host, or a suffix that the host ends with. Routes for any host do
    // not count. host: as for match().
    [[nodiscard]] bool names_host(std::string_view host) const;

    // Returns the methods that routes name for this host and path, for the Allow field: sorted,
    // "GET, HEAD".
    [[nodiscard]] std::string allowed_methods(std::string_view host, std::string_view path) const;

    [[nodiscard]] const std::vector<Route>& routes() const noexcept;

  private:
    struct Index;
    std::shared_ptr<const Index> index_;
};

} // namespace stint::routing
