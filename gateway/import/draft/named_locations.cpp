// Routes of locations whose requests try_files hands to a named location.
#include "import/draft/route_context.hpp"

#include <algorithm>

namespace stint::import_nginx {

namespace {

// True if try_files hands what it finds no file for to the named location.
bool leads_to(const Settings& settings, const std::string& name) {
    const Directive* const files = settings.files;
    return files != nullptr && files->name == "try_files" && files->args.back() == name;
}

bool one_leads_to(const std::vector<Location>& locations, const std::string& name) {
    return std::ranges::any_of(locations, [&name](const Location& one) {
        return leads_to(one.settings, name) || one_leads_to(one.nested, name);
    });
}

} // namespace

// Returns the named location that has the requests for which try_files, of the location or of the
// server, finds no file; null if there is none. A named location is not followed to another one:
// these may form a ring.
const Location* Routes::named_location(const Context& context, const Action& action) {
    const Location* const location = context.match.location;
    const bool follows = location == nullptr || location->kind != Location::Kind::named;
    if (!follows || action.kind != Action::Kind::none)
        return nullptr;
    for (const Location& named : context.hosted.server->named)
        if (leads_to(context.settings, named.pattern)) {
            report_.lose(
                *context.settings.files,
                "Stint serves no files; all requests go to " + named.pattern);
            return &named;
        }
    return nullptr;
}

// Reports the named locations that have no route. has_rest: some requests have no location.
void Routes::lose_named(const Server& server, bool has_rest) {
    for (const Location& named : server.named)
        if (!one_leads_to(server.locations, named.pattern) &&
            !(has_rest && leads_to(server.settings, named.pattern)))
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
