// Routes of locations whose requests try_files hands to a named location.
#include "import/draft/route_context.hpp"

#include <algorithm>

namespace stint::import_nginx {

// Returns the named location that has the requests for which try_files finds no file; null if there
// is none. A named location is not followed to another one: these may form a ring.
const Location* Routes::named_location(const Server& server, const Location& location) {
    const Directive* const files = location.settings.files;
    if (location.kind == Location::Kind::named || location.action.kind != Action::Kind::none ||
        files == nullptr || files->name != "try_files")
        return nullptr;
    const auto named = std::ranges::find(server.named, files->args.back(), &Location::pattern);
    if (named == server.named.end())
        return nullptr;
    report_.lose(*files, "Stint serves no files; all requests go to " + named->pattern);
    return &*named;
}

// Reports the named locations that have no route.
void Routes::lose_named(const Server& server) {
    const auto used = [](const std::vector<Location>& all, const std::string& name,
                         const auto& self) -> bool {
        return std::ranges::any_of(all, [&](const Location& one) {
            const Directive* const files = one.settings.files;
            return (files != nullptr && files->name == "try_files" && files->args.back() == name) ||
                   self(one.nested, name, self);
        });
    };
    for (const Location& named : server.named)
        if (!used(server.locations, named.pattern, used))
            report_.lose(*named.at, "no location that has a route hands requests to it; left out");
}

// Returns the body of a route whose requests a named location has. nginx counts them in the first
// of both that has limits, and checks the guards of both; those of the first alone if the named one
// answers by `return`.
Node Routes::body_of_named(
    const Context& context, const Location& named, std::vector<std::string>& comments) {
    const Settings& first = context.settings;
    const bool returns = named.action.kind == Action::Kind::answer;
    LocationMatch match = context.match;
    match.location = &named;
    Settings merged = named.settings;
    if (returns || !first.request_limits.empty())
        merged.request_limits = first.request_limits;
    if (returns || !first.connection_limits.empty())
        merged.connection_limits = first.connection_limits;
    if (returns)
        std::erase_if(
            merged.guards, [](const auto& guard) { return !is_rewrite_guard(guard.first); });
    merged.guards.insert(first.guards.begin(), first.guards.end());
    if (returns || merged.access.empty())
        merged.access = first.access;
    return body_of({context.hosted, match, merged, context.server_name}, comments);
}

} // namespace stint::import_nginx
