#include "routing/route_table.hpp"

#include "routing/path_index.hpp"
#include "routing/text_map.hpp"

#include <set>
#include <utility>

namespace stint::routing {

struct RouteTable::Index {
    explicit Index(std::vector<Route> all) : routes{std::move(all)} {
        for (const Route& route : routes)
            paths_of(route.match.host).add(route);
    }

    // Calls `visit` with the choices that match host and path, the most specific first, until it
    // returns true.
    template <class Visit>
    void visit_matching(std::string_view host, std::string_view path, Visit visit) const {
        const PathIndex* const paths = find_text(exact, host);
        if (paths != nullptr && paths->visit_matching(path, visit))
            return;
        if (visit_suffixes(host, path, visit))
            return;
        any.visit_matching(path, visit);
    }

    [[nodiscard]] bool names_host(std::string_view host) const {
        if (find_text(exact, host) != nullptr)
            return true;
        for (std::size_t dot = host.find('.', 1); dot != std::string_view::npos;
             dot = host.find('.', dot + 1))
            if (find_text(suffixes, host.substr(dot)) != nullptr)
                return true;
        return false;
    }

    std::vector<Route> routes;
    TextMap<PathIndex> exact;
    TextMap<PathIndex> suffixes; // by text that begins with "."
    PathIndex any;

  private:
    PathIndex& paths_of(const HostPattern& host) {
        switch (host.kind) {
        case HostPattern::Kind::exact:
            return exact[host.text];
        case HostPattern::Kind::suffix:
            return suffixes[host.text];
        case HostPattern::Kind::any:
            break;
        }
        return any;
    }

    // Tries suffixes from the longest to the shortest. A suffix needs at least one more label:
    // ".example.org" does not match "example.org".
    template <class Visit>
    bool visit_suffixes(std::string_view host, std::string_view path, Visit& visit) const {
        if (suffixes.empty())
            return false;
        for (std::size_t dot = host.find('.', 1); dot != std::string_view::npos;
             dot = host.find('.', dot + 1)) {
            const PathIndex* const paths = find_text(suffixes, host.substr(dot));
            if (paths != nullptr && paths->visit_matching(path, visit))
                return true;
        }
        return false;
    }
};

RouteTable::RouteTable() : RouteTable{std::vector<Route>{}} {}
RouteTable::RouteTable(std::vector<Route> routes)
    : index_{std::make_shared<const Index>(std::move(routes))} {}

MatchResult
RouteTable::match(std::string_view host, std::string_view path, std::string_view method) const {
    MatchResult result;
    index_->visit_matching(host, path, [&](const MethodChoice& choice) {
        result.path_matched = true;
        result.route = choice.choose(method);
        return result.route != nullptr;
    });
    return result;
}

bool RouteTable::names_host(std::string_view host) const {
    return index_->names_host(host);
}

std::string RouteTable::allowed_methods(std::string_view host, std::string_view path) const {
    std::set<std::string_view> methods;
    index_->visit_matching(host, path, [&](const MethodChoice& choice) {
        for (const auto& [method, route] : choice.named())
            methods.insert(method);
        return false;
    });
    std::string text;
    for (const std::string_view method : methods)
        text.append(text.empty() ? "" : ", ").append(method);
    return text;
}

const std::vector<Route>& RouteTable::routes() const noexcept {
    return index_->routes;
}

} // namespace stint::routing
