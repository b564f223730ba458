// Changes of heads: those that the gateway makes to each request's head, and those that a route
// configures for the heads of its requests and responses.
#pragma once

#include "base/field_edits.hpp"
#include "http/rewrite.hpp"
#include "proxy/request.hpp"

#include <optional>
#include <string_view>

namespace stint::proxy {

// All returned views refer to the request, its configuration or the worker's scratch memory. They
// are valid until the next co_await.

[[nodiscard]] PlaceholderValues placeholder_values(const Request& request);

// Returns the route's field edits for one kind of head; nothing if the route has none.
[[nodiscard]] std::optional<http::Shaping>
shaping(const Request& request, const FieldEdits routing::RouteShape::*edits);

// Returns the normalised or rewritten path to send; empty if the client's spelling is sent.
[[nodiscard]] std::string_view path_to_send(const Request& request, std::string_view path);

// Collects what the forwarded head is made of, besides the client's head. host: the upstream's
// configured Host; empty keeps the client's. authority: the Host for a request without one. shape:
// the route's edits of request fields; may be null.
[[nodiscard]] http::Forwarding forwarding_of(
    const Request& request,
    std::string_view host,
    std::string_view authority,
    const http::Shaping* shape);

} // namespace stint::proxy
