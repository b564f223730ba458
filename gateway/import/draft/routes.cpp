#include "import/draft/routes.hpp"

#include "config/values/bounds.hpp"
#include "config/values/match_values.hpp"
#include "config/yaml/diagnostics.hpp"
#include "import/draft/route_context.hpp"

#include <algorithm>
#include <utility>

namespace stint::import_nginx {

namespace {

Node match_node(const LocationMatch& match, const std::string& host) {
    Node node = Node::map();
    if (host != "*")
        node.add("host", Node::text(host));
    switch (match.kind) {
    case LocationMatch::Kind::exact:
        node.add("path_exact", Node::text(match.text));
        break;
    case LocationMatch::Kind::regex:
        node.add("path_regex", Node::text(match.text));
        break;
    case LocationMatch::Kind::prefix:
        node.add("path", Node::text(match.text));
    }
    node.flow();
    return node;
}

std::string place_of(const Directive& directive) {
    return directive.name + " (" + directive.at.text() + ")";
}

// True for a regular expression that stands for a prefix of nginx, which may end within a segment.
bool is_open_prefix(const LocationMatch& match) {
    return match.kind == LocationMatch::Kind::regex && !match.begin.empty() &&
           !match.begin.ends_with('/');
}

std::size_t count(const std::vector<Location>& locations) {
    std::size_t all = locations.size();
    for (const Location& one : locations)
        all += count(one.nested);
    return all;
}

} // namespace

// Replaces the routes by one that refuses, and reports why.
void Routes::refuse_everything(const Server& server, std::string_view why) {
    report_.lose(*server.at, std::string{why});
    refuses_everything_ = true;
    section_ = Node::list();
    Node route = Node::map();
    route.add("name", Node::text("everything"))
        .add("match", match_node({LocationMatch::Kind::prefix, "/", "/", nullptr}, "*"));
    refuse(501, server.settings, route);
    section_.push(std::move(route), {"Refused: the draft would be too large."});
}

// Counts the routes of a server. Returns false if the draft would have too many.
bool Routes::fits(const HostedServer& hosted, std::size_t matches) {
    counted_ += hosted.hosts.size() * matches + hosted.server->answers_by_host.size();
    return counted_ <= most_routes;
}

void Routes::add(const HostedServer& hosted, bool name_hosts) {
    if (refuses_everything_)
        return;
    if (count(hosted.server->locations) > most_locations)
        return refuse_everything(
            *hosted.server, "has more than " + std::to_string(most_locations) +
                                " locations; the draft refuses (501) everything");
    const std::string server_name = hosted.server->first_name();
    const std::vector<LocationMatch> matches = matches_of(*hosted.server, rules_, report_);
    if (!fits(hosted, matches.size()))
        return refuse_everything(
            *hosted.server, "the draft would have more than " + std::to_string(most_routes) +
                                " routes, one for each name and location; it "
                                "refuses (501) everything");
    lose_named(*hosted.server, matches.empty() || matches.back().location == nullptr);
    for (const std::string& host : hosted.hosts)
        for (const LocationMatch& match : matches) {
            const Location* const location = match.location;
            const Context context{
                hosted, match, location != nullptr ? location->settings : hosted.server->settings,
                server_name};
            if (!answers(*hosted.server, host))
                add_route(context, host, name_hosts);
        }
    add_answers(hosted, server_name);
}

// Returns true if an `if` of the server answers all requests for this host.
bool Routes::answers(const Server& server, const std::string& host) {
    return std::ranges::any_of(server.answers_by_host, [&host](const auto& one) {
        return config::lower(one.first) == host;
    });
}

// Adds the routes of hosts that an `if` of the server answers.
void Routes::add_answers(const HostedServer& hosted, const std::string& server_name) {
    const LocationMatch match{LocationMatch::Kind::prefix, "/", "/", nullptr};
    const Context context{hosted, match, hosted.server->settings, server_name};
    for (const auto& [name, by] : hosted.server->answers_by_host) {
        const auto host = config::parse_host_pattern(name);
        const bool own = host && std::ranges::find(hosted.hosts, *host) != hosted.hosts.end();
        const bool reached =
            own || (host && hosted.hosts.front() == "*" && !hosts_.contains(*host));
        if (!reached || !answered_.insert(*host).second) {
            report_.lose(*by, "its host has no route of this server; left out");
            continue;
        }
        Node route = Node::map();
        route.add("name", Node::text(names_.take(*host, "host")))
            .add("match", match_node(match, *host));
        if (hosted.server->unverifiable != nullptr)
            refuse(403, context.settings, route);
        else
            answer(context, *by, route);
        section_.push(std::move(route), {by->text()});
    }
}

void Routes::add_route(const Context& context, const std::string& host, bool name_hosts) {
    std::vector<std::string> comments;
    const Location* const location = context.match.location;
    const bool whole = context.hosted.server->action.kind == Action::Kind::answer;
    comments.push_back(
        location != nullptr ? location->at->text()
        : whole             ? "all of " + place_of(*context.hosted.server->at)
                            : "the rest of " + place_of(*context.hosted.server->at));
    if (is_open_prefix(context.match))
        comments.push_back(
            "In nginx a prefix ends anywhere, also within a segment. If that is not meant, write "
            "path: " +
            context.match.begin);
    std::string name =
        context.match.kind == LocationMatch::Kind::regex && context.match.begin.empty()
            ? "regex"
            : context.match.begin;
    if (slug(name).empty())
        name = location == nullptr && !whole ? "rest" : "root";
    if (name_hosts)
        name = (host == "*"              ? "default"
                : host.starts_with("*.") ? "any" + host.substr(1)
                                         : host) +
               '_' + name;
    Node route = Node::map();
    route.add("name", Node::text(names_.take(name, "route")))
        .add("match", match_node(context.match, host));
    Node body = body_of(context, comments);
    route.append(std::move(body));
    section_.push(std::move(route), std::move(comments));
}

// Adds a refusal, with what add_header adds to it in nginx.
void Routes::refuse(std::uint64_t status, const Settings& settings, Node& body) {
    Node respond = Node::map();
    respond.add("status", Node::number(status));
    Node headers = answer_headers(settings, status, report_);
    if (!headers.empty())
        respond.add("headers", headers.flow());
    body.add("respond", respond.flow());
}

// Adds what `allow` and `deny` say. Returns false if the route refuses everything.
bool Routes::restrict_access(const Context& context, std::vector<Node>& limits, Node& body) {
    const std::vector<AccessRule>& rules = context.settings.access;
    if (rules.empty() || (rules.front().allow && rules.front().network == "all"))
        return true;
    std::vector<Node> denials = limits_.denials(rules);
    if (!denials.empty()) {
        std::ranges::move(denials, std::back_inserter(limits));
        return true;
    }
    if (rules.front().allow || rules.front().network != "all")
        report_.lose(
            *rules.front().at,
            "Stint has no list of addresses that alone may pass; the draft refuses "
            "(403) all that these rules guard");
    refuse(403, context.settings, body);
    return false;
}

void Routes::add_limits(const Context& context, std::vector<Node> limits, Node& body) {
    const Location* const location = context.match.location;
    if (limits.size() > config::most_route_limits) {
        report_.lose(
            location != nullptr ? *location->at : *context.hosted.server->at,
            "a route has more than 16 limits; the draft has 16");
        limits.erase(limits.begin() + config::most_route_limits, limits.end());
    }
    Node list = Node::list();
    for (Node& limit : limits)
        list.push(std::move(limit));
    if (!list.empty())
        body.add("limits", list.flow());
}

// Answers requests that nginx answers with files: nothing but 404 without files.
void Routes::answer_files(const Context& context, Node& body, std::vector<std::string>& comments) {
    const Settings& settings = context.settings;
    const Location* const location = context.match.location;
    if (location == nullptr && settings.files == nullptr)
        return refuse(404, settings, body);
    const Directive& by = settings.files != nullptr ? *settings.files
                          : location != nullptr     ? *location->at
                                                    : *context.hosted.server->at;
    report_.lose(
        location != nullptr ? *location->at : by,
        "nginx answers it itself or with files; the draft answers 501: name an upstream there");
    comments.push_back("nginx serves files here: " + place_of(by) + ".");
    refuse(501, settings, body);
}

Node Routes::body_of(const Context& context, std::vector<std::string>& comments) {
    Node body = Node::map();
    if (const Directive* const by = context.hosted.server->unverifiable) {
        comments.push_back("Refused: " + place_of(*by) + " has no CA.");
        refuse(403, context.settings, body);
        return body;
    }
    const Location* const location = context.match.location;
    const Action& server_action = context.hosted.server->action;
    const Action action = server_action.kind != Action::Kind::none ? server_action
                          : location != nullptr                    ? location->action
                                                                   : Action{};
    const Settings& settings = context.settings;
    if (const Location* const named = named_location(context, action))
        return body_of_named(context, *named, comments);
    const bool answers =
        action.kind == Action::Kind::answer || action.kind == Action::Kind::internal;
    // Before a named location answers, nginx has counted and checked in the one that leads to it.
    const bool first = location == nullptr || location->kind != Location::Kind::named;
    if (answers && first) {
        answer_first(context, action, body, comments);
        return body;
    }
    std::vector<Node> limits = limits_.references(settings, context.server_name);
    if (!settings.guards.empty()) {
        comments.push_back(
            "Refused: " + place_of(*settings.guards.begin()->second) + " guards it in nginx.");
        refuse(403, settings, body);
    } else if (!restrict_access(context, limits, body)) {
        comments.push_back("Refused: " + settings.access.front().at->text() + ".");
    } else if (answers) {
        answer_action(context, action, body);
    } else if (action.kind == Action::Kind::proxy) {
        forward(context, body, comments);
    } else {
        answer_files(context, body, comments);
    }
    add_limits(context, std::move(limits), body);
    return body;
}

void Routes::answer_action(const Context& context, const Action& action, Node& body) {
    if (action.kind == Action::Kind::answer)
        answer(context, *action.at, body);
    else
        refuse(404, context.settings, body);
}

// Adds an answer that nginx gives before its limits and access rules apply.
void Routes::answer_first(
    const Context& context, const Action& action, Node& body, std::vector<std::string>& comments) {
    const Settings& settings = context.settings;
    if (!settings.request_limits.empty() || !settings.connection_limits.empty())
        comments.emplace_back("No limits: nginx answers this before it counts.");
    const Directive* const guard = guard_of_return(settings);
    if (guard == nullptr || action.kind != Action::Kind::answer)
        return answer_action(context, action, body);
    comments.push_back("Refused: " + place_of(*guard) + " guards it in nginx.");
    refuse(403, settings, body);
}

} // namespace stint::import_nginx
