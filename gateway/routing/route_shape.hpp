// The changes that a route makes to requests and responses.
#pragma once

#include "base/field_edits.hpp"
#include "routing/path_rewrite.hpp"

#include <memory>
#include <optional>
#include <string>

namespace stint::routing {

struct RouteShape {
    FieldEdits request;
    FieldEdits response;
    std::optional<PathRewrite> path;
    std::optional<std::string> host; // the Host to send; "" = the client's; nullopt: the upstream's

    bool grpc_unavailable = false; // gRPC's code of a limit's refusal is 14, and not 8

    [[nodiscard]] bool empty() const noexcept {
        return request.empty() && response.empty() && !path && !host && !grpc_unavailable;
    }
};

using RouteShapePtr = std::shared_ptr<const RouteShape>; // null: the route changes nothing

} // namespace stint::routing
