// Finds the route of a request, where every server that it may reach reads its path alike.
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
    std::string_view host; // normalised; of the request or the scratch, as is `path`
    // The path that routes and keys match: all of http::PathReading is done where it matters.
    std::string_view path;
    bool forward_path = false; // its normal form is to be sent, not the request's own spelling
};

// Finds the route. Refuses (400) a path that cannot be normalised or rewritten
// (routing/path_rewrite.hpp), and one that a server may read (http::PathReading) so that it gets
// another route, or outcome. Allocates only for paths that can be read so, and for escapes where
// the route rewrites.
[[nodiscard]] Result<FoundRoute, http::HeadError> find_route(
    const routing::Snapshot& snapshot,
    const RequestHead& head,
    std::string& host_scratch,
    std::string& path_scratch);

// True if the client takes the gateway for a forward proxy: its target is in absolute-form (RFC
// 9112 section 3.2.2), and no route names that host. host: FoundRoute's.
[[nodiscard]] bool asks_forward_proxy(
    const routing::Snapshot& snapshot, const RequestHead& head, std::string_view host);
inline constexpr http::HeadError no_forward_proxy{
    421, "Stint is no forward proxy, and no route names the host of this URI."};

} // namespace stint::admission
