// Finds the route of a request. Refuses a path that an upstream may read differently from the
// gateway.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"
#include "http/head_error.hpp"
#include "routing/snapshot.hpp"

#include <string>
#include <string_view>

namespace stint::admission {

struct FoundRoute {
    routing::MatchResult match;
    std::string_view host; // normalised; a view into the request or the scratch, as is `path`
    // The normalised path that routes and keys match; of a path with several readings
    // (http::PathReading), the last one.
    std::string_view path;
    bool forward_path = false; // the upstream gets the normalised path, not the client's spelling
};

// Finds the route. Refuses with 400 a path that cannot be normalised, or that the route cannot
// rewrite (routing/path_rewrite.hpp). Also refuses a path that another server may read differently
// (http::PathReading), if that reading has another route or outcome. Allocates only for such
// ambiguous paths, and to rewrite a path with escapes.
[[nodiscard]] Result<FoundRoute, http::HeadError> find_route(
    const routing::Snapshot& snapshot,
    const RequestHead& head,
    std::string& host_scratch,
    std::string& path_scratch);

// True if the client uses the gateway as a forward proxy: its target is neither a path nor "*" (RFC
// 9112 section 3.2), and no route names its host. Always false with
// PathRules::routes_absolute_form. host: FoundRoute::host.
[[nodiscard]] bool asks_forward_proxy(
    const routing::Snapshot& snapshot, const RequestHead& head, std::string_view host);
inline constexpr http::HeadError no_forward_proxy{
    421, "Stint is no forward proxy, and no route names the host of this URI."};

} // namespace stint::admission
