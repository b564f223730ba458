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

    [[nodiscard]] bool empty() const noexcept {
        return request.empty() && response.empty() && !path && !host;
    }
};

using RouteShapePtr = std::shared_ptr<const RouteShape>; // null: the route changes nothing

} // namespace stint::routing
