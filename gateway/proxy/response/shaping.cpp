// The route's changes to requests and responses on their way.
#include "http/target.hpp"
#include "proxy/exchange.hpp"

#include <cassert>

namespace stint::proxy {

PlaceholderValues Exchange::placeholder_values() const {
    PlaceholderValues values;
    const std::string_view client = client_->text();
    values[Placeholder::client_ip] = client.empty() ? std::string_view{"unknown"} : client;
    values[Placeholder::host] =
        http::normalise_host(stream_.head().authority, context_.scratch.host);
    values[Placeholder::method] = stream_.head().method;
    values[Placeholder::request_id] = request_id_;
    if (has_route())
        values[Placeholder::route] = route().name;
    return values;
}

// Returns nothing where the route sets and removes nothing.
std::optional<http::Shaping> Exchange::shaping(const FieldEdits routing::RouteShape::*edits) const {
    if (route().shape == nullptr || ((*route().shape).*edits).empty()) [[likely]]
        return std::nullopt;
    return http::Shaping{(*route().shape).*edits, placeholder_values()};
}

// Returns the path to send; empty: as the client spelt it. In the worker's scratch.
std::string_view Exchange::path_to_send(std::string_view path) const {
    const bool rewrites = route().shape != nullptr && route().shape->path;
    if ((!admission_.sends_normal_path() && !rewrites) || path == "*")
        return {};
    const std::string_view normal =
        http::normalise_path(path, snapshot().paths, context_.scratch.path)->text;
    if (!rewrites)
        return normal;
    std::string& rewritten = context_.scratch.rewritten;
    [[maybe_unused]] const bool whole = route().shape->path->apply(normal, rewritten);
    assert(whole); // find_route() has refused the others
    return rewritten;
}

const std::string& Exchange::host_to_send() const {
    if (route().shape != nullptr && route().shape->host) [[unlikely]]
        return *route().shape->host;
    return snapshot().upstreams[route().upstream].host;
}

} // namespace stint::proxy
