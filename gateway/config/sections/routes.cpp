// Reads routes: their match, action and limits.
#include "config/fields/shared_rows.hpp"
#include "config/values/bounds.hpp"
#include "config/values/limit_pairs.hpp"
#include "config/values/match_values.hpp"
#include "config/values/path_regex.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace stint::config {

namespace {

// Finds routes that match the same requests with equal precedence: they have the same host, the
// same kind and text of path, and a method in common or no methods at all.
class Overlaps {
  public:
    void add(const Value& route, const Match& match) {
        auto& others = seen_[std::tuple{match.host, match.kind, match.path}];
        for (const Seen& other : others) {
            const auto shared = shared_method(match.methods, other.methods);
            if (!shared)
                continue;
            route.wrong(
                "matches the same requests" + *shared + " as " + other.path + " on line " +
                std::to_string(other.line) + "; expected another host, path or methods");
            break;
        }
        others.push_back({route.path(), route.mark().line, match.methods});
    }

  private:
    using Methods = std::vector<std::string>;
    struct Seen {
        std::string path;
        std::size_t line;
        Methods methods;
    };

    // Returns " (GET)" if both lists contain GET, "" if both are empty (any method), and nullopt if
    // there is no conflict. An empty and a non-empty list do not conflict, because a route that
    // names a method has precedence.
    static std::optional<std::string> shared_method(const Methods& a, const Methods& b) {
        if (a.empty() && b.empty())
            return std::string{};
        const auto at = std::find_first_of(a.begin(), a.end(), b.begin(), b.end());
        if (at == a.end())
            return std::nullopt;
        return std::string{" ("}.append(*at).append(")");
    }

    std::map<std::tuple<std::string, Match::Path, std::string>, std::vector<Seen>> seen_;
};

bool read_methods(const Value& value, Match& match) {
    const auto items = value.items("a list such as [GET, HEAD]");
    if (!items)
        return false;
    if (items->empty())
        value.wrong("is empty; leave methods out to match any");
    bool whole = !items->empty();
    for (const Value& item : *items) {
        const auto method = item.as("a method such as GET", parse_method);
        whole = whole && method.has_value();
        if (!method)
            continue;
        if (std::find(match.methods.begin(), match.methods.end(), *method) != match.methods.end())
            item.wrong(in_quotes(*method) + " is listed already; remove one");
        match.methods.push_back(*method);
    }
    return whole;
}

// Reads a text of a match. Returns true if the value is absent or valid.
template <class Parse>
bool read_text(const std::optional<Value>& value, std::string& place, Parse parse) {
    if (!value)
        return true;
    auto text = value->as("a text", parse);
    if (!text)
        return false;
    place = std::move(*text);
    return true;
}

// Reads path, path_exact or path_regex; more than one of them is an error. Returns true if there is
// no error.
bool read_path(const Section& section, const PathRules& rules, Match& match) {
    const auto prefix = section.find("path");
    const auto exact = section.find("path_exact");
    const auto regex = section.find("path_regex");
    const bool several = (prefix && exact) || (regex && (prefix || exact));
    if (prefix && exact)
        section.wrong_at("path_exact", "excludes path; keep one of them");
    if (regex && (prefix || exact))
        section.wrong_at("path_regex", "excludes path and path_exact; keep one of them");
    bool whole = !several;
    whole = read_text(prefix, match.path, parse_path) && whole;
    whole = read_text(exact, match.path, parse_path) && whole;
    match.kind = regex ? Match::Path::regex : exact ? Match::Path::exact : Match::Path::prefix;
    if (!regex)
        return whole;
    match.regex = regex->as("a regular expression", [&](std::string_view text) {
        return parse_path_regex(text, PathUse::pattern, rules);
    });
    if (match.regex)
        match.path = match.regex->pattern();
    return whole && match.regex;
}

// Reads a match. Returns true if it has no error, so that it can be compared with other routes.
bool read_match(const Value& value, const PathRules& rules, Match& match) {
    const auto section = open_section(value, match_fields(), "a map such as {path: /products}");
    if (!section)
        return false;
    bool whole = read_text(section->find("host"), match.host, parse_host_pattern);
    whole = read_path(*section, rules, match) && whole;
    if (const auto methods = section->find("methods"))
        whole = read_methods(*methods, match) && whole;
    return whole;
}

bool counts_permits(const Limit& limit) {
    return !limit.key.empty() && limit.key.front().kind == KeySource::Kind::permit_key;
}

// Reports an error if the route's last limit and an earlier one exclude each other: one has
// retry_after: reserve, and gateways share the other or it lets requests wait. With enforce: false
// on one of them, a limit that lets requests wait is allowed. item: the last limit's node.
void refuse_beside_reserving(const Value& item, const Route& route, const Config& config) {
    const Limit& added = config.limits[route.limits.back()];
    for (const std::size_t index : route.limits) {
        const Limit& other = config.limits[index];
        if (&added == &other)
            continue;
        if (shares_beside_reserved_slots(added, other))
            return item.wrong(
                "gateways share " + in_quotes(added.shared ? added.name : other.name) + ", and " +
                in_quotes(added.shared ? other.name : added.name) +
                " reserves slots (retry_after: reserve); expected only one of both on a route");
        if (!added.enforce || !other.enforce || !queues_into_reserved_slots(added, other))
            continue;
        return item.wrong(
            in_quotes(added.name) + (added.wait ? " lets requests wait and " : " reserves and ") +
            in_quotes(other.name) + (added.wait ? " reserves" : " lets requests wait") +
            "; expected limits with either when_exceeded: wait or retry_after: reserve");
    }
}

void read_route_limits(const Value& value, Route& route, LoadState& loading) {
    const auto items = value.items("a list of limits such as [per_client, {concurrent: 3}]");
    std::size_t position = 0;
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        ++position;
        if (position == most_route_limits + 1)
            item.wrong("too many limits; expected at most " + std::to_string(most_route_limits));
        std::optional<std::size_t> index;
        if (names_limit(item))
            index = read_limit_reference(item, route, loading);
        else if (item.is_map())
            index = read_inline_limit(item, route, position, loading);
        else if (const auto name = item.scalar("a limit's name or a map such as {concurrent: 3}"))
            index = find_limit(item, *name, loading);
        if (!index)
            continue;
        if (std::find(route.limits.begin(), route.limits.end(), *index) != route.limits.end())
            item.wrong(
                in_quotes(loading.config.limits[*index].name) + " is listed already; remove one");
        if (counts_permits(loading.config.limits[*index]))
            item.wrong(
                in_quotes(loading.config.limits[*index].name) +
                " counts by permit_key, which only who takes a permit names; expected a "
                "limit with another key");
        route.limits.push_back(*index);
        refuse_beside_reserving(item, route, loading.config);
    }
}

// Returns the route's cool-down if its pauses are by host: those are the upstream's, and so other
// routes', too.
const Cooldown* cooldown_by_host(const Route& route, const Config& config) {
    if (route.answer || route.upstream >= config.upstreams.size())
        return nullptr;
    const auto& is = route.cooldown ? route.cooldown : config.upstreams[route.upstream].cooldown;
    return is && is->on && is->scope == Cooldown::Scope::host ? &*is : nullptr;
}

// Finds routes whose pauses are the same, while only one shares them with other gateways, or by
// another store.
class PausesByHost {
  public:
    void add(const Value& value, const Route& route, const Config& config) {
        const Cooldown* const cooldown = cooldown_by_host(route, config);
        if (cooldown == nullptr)
            return;
        const auto [first, added] =
            first_.try_emplace(route.upstream, First{route.name, cooldown->shared});
        if (!added && first->second.shared != cooldown->shared)
            value.wrong(
                "pauses by host as the route " + in_quotes(first->second.route) +
                " does, and the upstream has one pause a host for both; expected a cooldown with "
                "the same shared, or another scope");
    }

  private:
    struct First {
        std::string route;
        std::optional<std::size_t> shared; // a store's index
    };
    std::map<std::size_t, First> first_; // by upstream
};

void read_route(const Value& value, Route& route, Overlaps& overlaps, LoadState& loading) {
    const auto section =
        open_section(value, route_fields(), "a map such as {name: shop, upstream: shop}");
    if (!section)
        return;
    route.max_body = loading.config.max_body;
    route.headers = loading.config.headers;
    read_fields(*section, route_fields(), route, loading);
    const auto match = section->find("match");
    const bool match_is_right = !match || read_match(*match, loading.config.paths, route.match);
    if (match_is_right)
        overlaps.add(value, route.match);
    read_action(*section, route, loading);
    if (match_is_right)
        read_path_changes(*section, loading.config.paths, route);
    if (const auto limits = section->find("limits"))
        read_route_limits(*limits, route, loading);
    if (const auto fence = section->find("require_fence"))
        read_require_fence(*fence, route, loading);
}

} // namespace

void read_routes(const Value& value, LoadState& loading) {
    const auto items = value.items("a list of routes such as [{name: shop, upstream: shop}]");
    Overlaps overlaps;
    PausesByHost pauses;
    std::map<std::string, std::size_t> lines; // line of each route's name
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        Route route;
        read_route(item, route, overlaps, loading);
        pauses.add(item, route, loading.config);
        const auto [first, added] = lines.try_emplace(route.name, item.mark().line);
        if (!added && !route.name.empty())
            item.wrong(
                "the name " + in_quotes(route.name) + " is taken by the route on line " +
                std::to_string(first->second) + "; expected another name");
        loading.config.routes.push_back(std::move(route));
    }
}

} // namespace stint::config
