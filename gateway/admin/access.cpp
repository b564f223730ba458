#include "admin/access.hpp"

#include "base/hash.hpp"
#include "http/ascii.hpp"
#include "http/own_host.hpp"
#include "runtime/gateway.hpp"

#include <algorithm>

namespace stint::admin {
namespace {

bool same_folded(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return http::ascii::lower(x) == http::ascii::lower(y);
    });
}

// Returns true if a web page of another origin may have sent the request (CSRF). Browsers send
// Origin with every POST; its value may be "null".
bool from_elsewhere(const Request& request) {
    return std::any_of(
        request.origins.begin(), request.origins.end(), [&](const std::string& origin) {
            const std::size_t scheme = origin.find("://");
            return scheme == std::string::npos ||
                   !same_folded(std::string_view{origin}.substr(scheme + 3), request.authority);
        });
}

bool carries_token(const Request& request, std::string_view token) {
    if (request.authorizations.size() != 1)
        return false;
    const std::string_view given = request.authorizations.front();
    constexpr std::string_view scheme = "bearer ";
    return given.size() > scheme.size() &&
           http::ascii::equals_folded(given.substr(0, scheme.size()), scheme) &&
           equal_in_constant_time(http::ascii::trim(given.substr(scheme.size())), token);
}

Response unauthorized(std::string_view detail) {
    Response response = problem(401, detail);
    response.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"stint\"");
    return response;
}

} // namespace

bool host_allowed(std::string_view authority, int minor_version, const Policy& policy) {
    if (policy.tls && !authority.empty())
        return true;
    return http::is_own_host(authority, minor_version, {policy.reach, policy.host, policy.hosts});
}

std::optional<Response> refuse_change(const Request& request, const Policy& policy) {
    if (policy.read_only)
        return problem(403, "This listener is read-only.");
    if (from_elsewhere(request))
        return problem(403, "Changes are not accepted from pages of other sites.");
    if (policy.token.empty() || carries_token(request, policy.token))
        return std::nullopt;
    return unauthorized("Changes need \"Authorization: Bearer TOKEN\".");
}

std::optional<Response> refuse_read(const Request& request, const Policy& policy) {
    const bool open = policy.read_token.empty() ||
                      std::ranges::find(policy.open_paths, request.path) != policy.open_paths.end();
    if (open || carries_token(request, policy.read_token) ||
        (!policy.token.empty() && carries_token(request, policy.token)))
        return std::nullopt;
    return unauthorized("This listener needs \"Authorization: Bearer TOKEN\".");
}

std::optional<Response> refuse_late_change(const runtime::Gateway& gateway) {
    if (gateway.serving() == runtime::Gateway::Serving::this_one)
        return std::nullopt;
    return problem(
        503, "The gateway is stopping, or is being replaced; nothing is changed here any more.");
}

} // namespace stint::admin
