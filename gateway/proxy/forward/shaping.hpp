// The gateway's changes to a request's head, and the route's to both heads.
#pragma once

#include "base/field_edits.hpp"
#include "http/rewrite.hpp"
#include "proxy/request.hpp"

#include <optional>
#include <string_view>

namespace stint::proxy {

// All views are of the request, its configuration or the worker's scratch: they are valid until the
// next suspension.

[[nodiscard]] PlaceholderValues placeholder_values(const Request& request);

// Returns nothing where the route sets and removes nothing.
[[nodiscard]] std::optional<http::Shaping>
shaping(const Request& request, const FieldEdits routing::RouteShape::*edits);

// Returns the path to send; empty: as the client spelt it.
[[nodiscard]] std::string_view path_to_send(const Request& request, std::string_view path);

// Sets what the gateway knows about the request and its route. shape: of requests; may be null.
// host: the upstream's; empty: the client's stays. authority: for a request without a Host.
[[nodiscard]] http::Forwarding forwarding_of(
    const Request& request,
    std::string_view host,
    std::string_view authority,
    const http::Shaping* shape);

} // namespace stint::proxy
