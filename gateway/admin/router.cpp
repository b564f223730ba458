#include "admin/router.hpp"

#include "http/query.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace stint::admin {
namespace {

constexpr std::array<std::pair<std::string_view, Endpoint>, 16> paths{{
    {"/changes", Endpoint::changes},
    {"/metrics", Endpoint::metrics},
    {"/healthz", Endpoint::healthz},
    {"/readyz", Endpoint::readyz},
    {"/config", Endpoint::config},
    {"/config/last_reload", Endpoint::last_reload},
    {"/config/reload", Endpoint::reload},
    {"/cooldowns", Endpoint::cooldowns},
    {"/explain", Endpoint::explain},
    {"/limits", Endpoint::limits},
    {"/v1/locks", Endpoint::locks},
    {"/overlay", Endpoint::overlay},
    {"/routes", Endpoint::routes},
    {"/stores", Endpoint::stores},
    {"/upstreams", Endpoint::upstreams},
    {"/version", Endpoint::version},
}};

constexpr std::string_view limits_prefix = "/limits/";
constexpr std::string_view locks_prefix = "/v1/locks/"; // the same path as on the permits listener
constexpr std::string_view stores_prefix = "/stores/";
constexpr std::string_view upstreams_prefix = "/upstreams/";

// Splits a path at every "/" and percent-decodes the segments; nullopt for a malformed escape.
std::optional<std::vector<std::string>> decoded_segments(std::string_view path) {
    std::vector<std::string> segments;
    for (;;) {
        const std::size_t slash = path.find('/');
        auto segment = http::percent_decoded(path.substr(0, slash));
        if (!segment)
            return std::nullopt;
        segments.push_back(std::move(*segment));
        if (slash == std::string_view::npos)
            return segments;
        path.remove_prefix(slash + 1);
    }
}

Response nothing_here() {
    return problem(
        404,
        "There is nothing here. There are /metrics, /healthz, /readyz, /config, "
        "/config/last_reload, "
        "/changes, /cooldowns, /limits, /limits/NAME, /limits/NAME/top, "
        "/limits/NAME/forecast, /v1/locks, /v1/locks/NAME, "
        "/routes, "
        "/stores, /upstreams, /version; by POST /explain, /config/reload, /limits/NAME/block and "
        "/unblock, /stores/NAME/trust, /upstreams/NAME/endpoints/ENDPOINT/drain and /enable; by "
        "PUT and DELETE "
        "/limits/NAME/overrides and /limits/NAME/overrides/KEY; by POST and DELETE "
        "/limits/NAME/enforce; by DELETE /limits/NAME/counters, /v1/locks/NAME/leases/ID.");
}

constexpr std::array<std::pair<std::string_view, Endpoint>, 7> parts_of_limit{{
    {"top", Endpoint::top},
    {"forecast", Endpoint::forecast},
    {"overrides", Endpoint::override_of_key},
    {"block", Endpoint::block},
    {"unblock", Endpoint::unblock},
    {"enforce", Endpoint::enforce},
    {"counters", Endpoint::counters},
}};

Result<Target, Response> target_of_limit(std::string_view path) {
    auto segments = decoded_segments(path);
    if (!segments)
        return problem(400, "The path has a malformed percent-escape.");
    std::string& name = segments->front();
    if (segments->size() == 1 && !name.empty())
        return Target{Endpoint::limit, std::move(name)};
    const auto part = std::ranges::find_if(parts_of_limit, [&](const auto& each) {
        return segments->size() == 2 && each.first == segments->back();
    });
    if (part != parts_of_limit.end())
        return Target{part->second, std::move(name)};
    if (segments->size() == 3 && (*segments)[1] == "overrides" && !segments->back().empty())
        return Target{Endpoint::override_of_key, std::move(name), std::move(segments->back())};
    return nothing_here();
}

Result<Target, Response> target_of_lock(std::string_view path) {
    auto segments = decoded_segments(path);
    if (!segments)
        return problem(400, "The path has a malformed percent-escape.");
    if (segments->size() == 1 && !segments->front().empty())
        return Target{Endpoint::lock, std::move(segments->front())};
    if (segments->size() == 3 && (*segments)[1] == "leases")
        return Target{Endpoint::lease, std::move(segments->front()), std::move(segments->back())};
    return nothing_here();
}

Result<Target, Response> target_of_upstream(std::string_view path) {
    auto segments = decoded_segments(path);
    if (!segments)
        return problem(400, "The path has a malformed percent-escape.");
    if (segments->size() != 4 || (*segments)[1] != "endpoints" ||
        (segments->back() != "drain" && segments->back() != "enable"))
        return nothing_here();
    const Endpoint change = segments->back() == "drain" ? Endpoint::drain : Endpoint::enable;
    return Target{change, std::move(segments->front()), std::move((*segments)[2])};
}

Result<Target, Response> target_of_store(std::string_view path) {
    auto segments = decoded_segments(path);
    if (!segments)
        return problem(400, "The path has a malformed percent-escape.");
    if (segments->size() != 2 || segments->back() != "trust")
        return nothing_here();
    return Target{Endpoint::trust_store, std::move(segments->front())};
}

Result<Target, Response> target_at(std::string_view path) {
    const auto found = std::find_if(
        paths.begin(), paths.end(), [&](const auto& each) { return each.first == path; });
    if (found != paths.end())
        return Target{found->second};
    if (path.starts_with(limits_prefix))
        return target_of_limit(path.substr(limits_prefix.size()));
    if (path.starts_with(locks_prefix))
        return target_of_lock(path.substr(locks_prefix.size()));
    if (path.starts_with(stores_prefix))
        return target_of_store(path.substr(stores_prefix.size()));
    if (path.starts_with(upstreams_prefix))
        return target_of_upstream(path.substr(upstreams_prefix.size()));
    return nothing_here();
}

using Methods = std::vector<std::string_view>;

const Methods& methods_of(Endpoint endpoint) {
    static const Methods reading{"GET", "HEAD"};
    static const Methods posting{"POST"};
    static const Methods setting{"PUT", "DELETE"};
    static const Methods switching{"POST", "DELETE"};
    static const Methods ending{"DELETE"};
    switch (endpoint) {
    case Endpoint::reload:
    case Endpoint::explain:
    case Endpoint::drain:
    case Endpoint::enable:
    case Endpoint::block:
    case Endpoint::unblock:
    case Endpoint::trust_store:
        return posting;
    case Endpoint::enforce:
        return switching;
    case Endpoint::override_of_key:
        return setting;
    case Endpoint::lease:
    case Endpoint::counters:
        return ending;
    default:
        return reading;
    }
}

Response wrong_method(const Methods& methods) {
    std::string allow;
    for (const std::string_view method : methods)
        allow.append(allow.empty() ? "" : ", ").append(method);
    Response response = problem(405, "This path answers to " + allow + " only.");
    response.fields.emplace_back("Allow", allow);
    return response;
}

} // namespace

Result<Target, Response> find_target(std::string_view method, std::string_view path) {
    auto target = target_at(path);
    if (!target)
        return target;
    const Methods& methods = methods_of(target->endpoint);
    if (std::ranges::find(methods, method) == methods.end())
        return wrong_method(methods);
    return target;
}

} // namespace stint::admin
