// The tables of the keys of a route and of its match, and their output in GET /config.
#include "base/lock_names.hpp"
#include "config/fields/shared_rows.hpp"
#include "config/values/match_values.hpp"

#include <array>
#include <utility>

namespace stint::config {

namespace {

Parsed<std::string> parse_route_host(std::string_view text) {
    return text == "keep" ? Parsed<std::string>{std::string{}} : parse_host_field(text);
}

// Shows the path of a match, if the match is of the row's kind.
template <Match::Path Kind>
void show_path(const Field& field, const Match& match, const Config&, Shown::Map& members) {
    if (match.kind == Kind)
        add(members, field.key, match.path);
}

constexpr std::array<std::string_view, 2> grpc_refusal_words{"resource_exhausted", "unavailable"};

using MatchRow = Fields<Match>;
constexpr FieldType a_path{.kind = FieldType::Kind::text, .name = "path"};
constexpr std::array match_table{
    MatchRow::other(
        {.key = "host",
         .about =
             "A host exactly, \"*.shop.example\" for all its subdomains, \"*\" for any. Without "
             "port."},
        {.kind = FieldType::Kind::text, .name = "host"},
        nullptr,
        [](const Field& field, const Match& match, const Config&, Shown::Map& members) {
            add(members, field.key, match.host);
        }),
    MatchRow::other(
        {.key = "path", .about = "A prefix on segment boundaries."},
        a_path,
        nullptr,
        &show_path<Match::Path::prefix>),
    MatchRow::other(
        {.key = "path_exact", .about = "Instead of path: exactly this path.", .otherwise = "none"},
        a_path,
        nullptr,
        &show_path<Match::Path::exact>),
    MatchRow::other(
        {.key = "path_regex",
         .about = "Instead of path: a regular expression for the whole path. At most 1 KiB.",
         .otherwise = "none"},
        {.kind = FieldType::Kind::text, .name = "regular expression (RE2)"},
        nullptr,
        &show_path<Match::Path::regex>),
    MatchRow::other(
        {.key = "methods",
         .about = "Methods, in upper case.",
         .expected = "a list such as [GET, HEAD]",
         .otherwise = "any but TRACE"},
        {.kind = FieldType::Kind::text, .is_list = true, .name = "methods"},
        nullptr,
        [](const Field& field, const Match& match, const Config&, Shown::Map& members) {
            if (!match.methods.empty())
                add(members, field.key, list_of(match.methods));
        }),
};

void show_answer(const Route& route, const Config& config, Shown::Map& members) {
    if (!route.answer->location.empty())
        add(members, "redirect", shown(redirect_fields(), *route.answer, config));
    else
        add(members, "respond", shown(respond_fields(), *route.answer, config));
}

void show_rewrite(
    const Field& field, const Route& route, const Config& config, Shown::Map& members) {
    if (!route.rewrite)
        return;
    const PathRewrite& rewrite = *route.rewrite;
    using Kind = PathRewrite::Kind;
    if (rewrite.kind == Kind::regex)
        add(members, field.key, shown(rewrite_fields(), rewrite, config));
    else if (rewrite.kind == Kind::prefix && rewrite.to.empty() && !rewrite.from.empty())
        add(members, "strip_prefix", rewrite.from);
    else
        add(members, field.key, rewrite.to.empty() ? "/" : rewrite.to);
}

using RouteRow = Fields<Route>;
constexpr std::array route_table{
    RouteRow::other(
        {.key = "name",
         .about = "For logs, metrics and the names of inline limits. Unique.",
         .expected = "a name for logs and metrics",
         .required = true},
        {.kind = FieldType::Kind::text, .name = "name"},
        [](const Field&, const Value& value, Route& route, LoadState&) {
            value.into(route.name, "a name", parse_name);
        },
        [](const Field& field, const Route& route, const Config&, Shown::Map& members) {
            add(members, field.key, route.name);
        }),
    RouteRow::map(
        {.key = "match",
         .about = "The requests that it takes, unless another route has a more specific one.",
         .otherwise = "everything"},
        "map",
        nullptr,
        [](const Field& field, const Route& route, const Config& config, Shown::Map& members) {
            add(members, field.key, shown(match_fields(), route.match, config));
        }),
    RouteRow::map(
        {.key = "limits",
         .about =
             "Names of limits, also as {limit: NAME, status: 503}, inline limits, and locks as "
             "{lock: NAME}; at most 16.",
         .expected = "a list of limits such as [per_client, {concurrent: 3}]"},
        "list of limits",
        nullptr,
        &show_route_limits),
    max_body_row<Route>("the top level's"),
    headers_row<Route>("the top level's"),
    timeouts_row<Route>("the upstream's"),
    RouteRow::other(
        {.key = "require_fence",
         .about =
             "A lock with max: 1: requests that may write must carry the fence number of its last "
             "holder, else they get 412.",
         .otherwise = "none"},
        {.kind = FieldType::Kind::text, .name = "name of a lock"},
        nullptr,
        [](const Field& field, const Route& route, const Config& config, Shown::Map& members) {
            if (route.require_fence)
                add(members, field.key, lock_name(config.limits[*route.require_fence].name));
        }),
    RouteRow::other(
        {.key = "upstream",
         .about = "Where its requests are sent. Instead: respond or redirect.",
         .expected = "the name of an upstream, or respond or redirect",
         .otherwise = "*required*, or respond or redirect"},
        {.kind = FieldType::Kind::text, .name = "name of an upstream"},
        nullptr,
        [](const Field& field, const Route& route, const Config& config, Shown::Map& members) {
            if (route.answer)
                show_answer(route, config, members);
            else
                add(members, field.key, upstream_of(config, route).name);
        }),
    RouteRow::map(
        {.key = "respond", .about = "A response of Stint's own.", .otherwise = "none"},
        "map",
        nullptr,
        nullptr),
    RouteRow::map(
        {.key = "redirect", .about = "A redirect to another target.", .otherwise = "none"},
        "target, or map",
        nullptr,
        nullptr),
    RouteRow::other(
        {.key = "host",
         .about = "The Host sent to the upstream; keep: the client's.",
         .expected = "what to send as Host, or keep",
         .otherwise = "the upstream's"},
        {.kind = FieldType::Kind::text, .name = "HOST, HOST:port, or keep"},
        [](const Field& field, const Value& value, Route& route, LoadState&) {
            route.host = value.as(field.expected, parse_route_host);
        },
        [](const Field& field, const Route& route, const Config&, Shown::Map& members) {
            if (route.host)
                add(members, field.key, route.host->empty() ? "keep" : *route.host);
        }),
    RouteRow::other(
        {.key = "strip_prefix",
         .about = "A prefix of the path that the upstream does not get.",
         .otherwise = "none"},
        a_path,
        nullptr,
        nullptr),
    RouteRow::map(
        {.key = "rewrite",
         .about = "The path for the upstream: in place of the match's prefix, or of what a regular "
                  "expression matches.",
         .otherwise = "none"},
        "path, or map",
        nullptr,
        &show_rewrite),
    RouteRow::shown_by(
        RouteRow::word<&Route::grpc_unavailable>(
            {.key = "grpc_refusal",
             .about = "The status that a limit's refusal has for a client of gRPC.",
             .expected = "resource_exhausted or unavailable"},
            grpc_refusal_words),
        [](const Field& field, const Route& route, const Config&, Shown::Map& members) {
            if (route.grpc_unavailable)
                add(members, field.key, "unavailable");
        }),
    edits_row<Route, EditedHead::request>("request"),
    edits_row<Route, EditedHead::response>("response"),
    RouteRow::other(
        {.key = "upgrade",
         .about = "The protocols that clients may switch to.",
         .expected = "off or a list of protocols such as [websocket]"},
        {.kind = FieldType::Kind::text, .is_list = true, .zero = "off", .name = "protocols"},
        [](const Field&, const Value& value, Route& route, LoadState&) {
            read_upgrade(value, route.upgrade);
        },
        [](const Field& field, const Route& route, const Config&, Shown::Map& members) {
            if (route.answer)
                return;
            add(members, field.key,
                route.upgrade.empty() ? Shown{"off"} : Shown{list_of(route.upgrade)});
        }),
    RouteRow::map(
        {.key = "cooldown",
         .about = "Pauses requests after the upstream has answered 429 or 503 with Retry-After.",
         .otherwise = "the upstream's"},
        "on, off, or map",
        [](const Field&, const Value& value, Route& route, LoadState& loading) {
            route.cooldown.emplace().scope = Cooldown::Scope::route;
            read_cooldown(value, *route.cooldown, loading);
        },
        [](const Field& field, const Route& route, const Config& config, Shown::Map& members) {
            if (route.cooldown)
                add(members, field.key, shown_cooldown(route.cooldown, config));
        }),
    RouteRow::shown_by(
        retry_row<Route>("the upstream's"),
        [](const Field& field, const Route& route, const Config& config, Shown::Map& members) {
            if (route.retry)
                add(members, field.key, shown_retry(route.retry, config));
        }),
};

} // namespace

Table<Route> route_fields() {
    return route_table;
}

Table<Match> match_fields() {
    return match_table;
}

const Upstream& upstream_of(const Config& config, const Route& route) {
    static const Upstream none;
    return route.answer ? none : config.upstreams[route.upstream];
}

void show_routes(const Field& field, const Config& config, const Config&, Shown::Map& members) {
    Shown::List routes;
    for (const Route& route : config.routes)
        routes.emplace_back(shown(route_fields(), route, config));
    add(members, field.key, std::move(routes));
}

} // namespace stint::config
