#include "admin/router.hpp"

#include "admin/query.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace stint::admin {
namespace {

constexpr std::array<std::pair<std::string_view, Endpoint>, 10> paths{{
    {"/metrics", Endpoint::metrics},
    {"/healthz", Endpoint::healthz},
    {"/readyz", Endpoint::readyz},
    {"/config", Endpoint::config},
    {"/config/reload", Endpoint::reload},
    {"/cooldowns", Endpoint::cooldowns},
    {"/limits", Endpoint::limits},
    {"/routes", Endpoint::routes},
    {"/upstreams", Endpoint::upstreams},
    {"/version", Endpoint::version},
}};

constexpr std::string_view limits_prefix = "/limits/";

Result<Target, Response> target_at(std::string_view path) {
    const auto found = std::find_if(
        paths.begin(), paths.end(), [&](const auto& each) { return each.first == path; });
    if (found != paths.end())
        return Target{found->second, {}};
    if (!path.starts_with(limits_prefix) || path.size() == limits_prefix.size())
        return problem(
            404,
            "There is nothing here. There are /metrics, /healthz, /readyz, /config, /cooldowns, "
            "/limits, /limits/NAME, /routes, /upstreams, /version, and POST /config/reload.");
    auto name = percent_decoded(path.substr(limits_prefix.size()));
    if (!name)
        return problem(400, "The path has a malformed percent-escape.");
    return Target{Endpoint::limit, std::move(*name)};
}

} // namespace

Result<Target, Response> find_target(std::string_view method, std::string_view path) {
    auto target = target_at(path);
    if (!target)
        return target;
    const bool changes = target->endpoint == Endpoint::reload;
    if (changes ? method == "POST" : method == "GET" || method == "HEAD")
        return target;
    const std::string allow = changes ? "POST" : "GET, HEAD";
    Response response = problem(405, "This path answers to " + allow + " only.");
    response.fields.emplace_back("Allow", allow);
    return response;
}

} // namespace stint::admin
