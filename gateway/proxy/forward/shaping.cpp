#include "proxy/forward/shaping.hpp"

#include "http/framing.hpp"
#include "http/target.hpp"
#include "http/trailers.hpp"

#include <cassert>

namespace stint::proxy {
namespace {

// Returns the trusted header that names the client. Empty if no proxy is trusted, or if the header
// is one that is always replaced.
std::string_view own_client_field(const routing::TrustedProxies& trusted) noexcept {
    if (trusted.empty() || trusted.header == "x-forwarded-for" || trusted.header == "forwarded")
        return {};
    return trusted.header;
}

} // namespace

PlaceholderValues placeholder_values(const Request& request) {
    PlaceholderValues values;
    const std::string_view client = request.record().client().text();
    values[Placeholder::client_ip] = client.empty() ? std::string_view{"unknown"} : client;
    values[Placeholder::host] =
        http::normalise_host(request.head().authority, request.context().scratch.host);
    values[Placeholder::method] = request.head().method;
    values[Placeholder::request_id] = request.record().id();
    if (request.has_route())
        values[Placeholder::route] = request.route().name;
    return values;
}

std::optional<http::Shaping>
shaping(const Request& request, const FieldEdits routing::RouteShape::*edits) {
    const routing::RouteShapePtr& shape = request.route().shape;
    if (shape == nullptr || ((*shape).*edits).empty()) [[likely]]
        return std::nullopt;
    return http::Shaping{(*shape).*edits, placeholder_values(request)};
}

std::string_view path_to_send(const Request& request, std::string_view path) {
    const routing::RouteShapePtr& shape = request.route().shape;
    const bool rewrites = shape != nullptr && shape->path;
    if ((!request.sends_normal_path() && !rewrites) || path == "*")
        return {};
    admission::Scratch& scratch = request.context().scratch;
    const std::string_view normal =
        http::normalise_path(path, request.snapshot().paths, scratch.path)->text;
    if (!rewrites)
        return normal;
    [[maybe_unused]] const bool whole = shape->path->apply(normal, scratch.rewritten);
    assert(whole); // requests that the rewrite does not fit were refused with their route
    return scratch.rewritten;
}

http::Forwarding forwarding_of(
    const Request& request,
    std::string_view host,
    std::string_view authority,
    const http::Shaping* shape) {
    const RequestHead& head = request.head();
    const routing::Snapshot& snapshot = request.snapshot();
    const server::ConnectionInfo& connection = request.stream().connection();
    std::string_view path;
    if (request.sends_normal_path() || request.route().shape != nullptr) [[unlikely]] {
        path = path_to_send(request, head.path);
        if (request.route().shape != nullptr && request.route().shape->host)
            host = *request.route().shape->host;
    }
    if (head.authority.empty() && host.empty()) [[unlikely]]
        host = authority;
    // HTTP/2 has no Connection that could name TE.
    const bool asks_trailers = head.ids.contains(FieldId::te) && http::takes_trailers(head) &&
                               (head.http2 || http::has_connection_option(head.fields, "te"));
    return {
        .peer_address = connection.peer->text(),
        .scheme = connection.secure ? std::string_view{"https"} : std::string_view{"http"},
        .host = host,
        .request_id = request.record().id(),
        .peer_is_trusted = request.record().peer_is_trusted(),
        .client_field = own_client_field(snapshot.trusted),
        .trailers = asks_trailers,
        .path = path,
        .forwarded = snapshot.hop.forwarded,
        .via = snapshot.hop.via ? &*snapshot.hop.via : nullptr,
        .protected_fields = snapshot.protected_fields,
        .shaping = shape,
        .trusted_fields = &snapshot.trusted_fields};
}

} // namespace stint::proxy
