// PUT and DELETE /limits/NAME/overrides/KEY: other numbers for some keys, at run time.
#pragma once

#include "admin/message.hpp"
#include "config/schema/schema.hpp"
#include "runtime/gateway.hpp"
#include "runtime/live_overrides.hpp"

#include <string>
#include <string_view>

namespace stint::admin {

// {"requests": 200, "expires_in_ms": 7200000}; of a cap "concurrent" instead of "requests", and of
// a token bucket "burst" beside it. Without "expires_in_ms" it stays until it is deleted or the
// process ends. The error is the response.
[[nodiscard]] Result<runtime::LiveOverride, Response>
override_in(std::string_view body, const config::Limit& limit, std::string pattern, const Now& now);

// Adds one limit's live overrides to its "overrides", which may hold the file's.
void add_overrides(
    Json& limit_json,
    const config::Limit& limit,
    const runtime::LiveOverrides& overrides,
    const Now& now);

[[nodiscard]] Response put_override(
    runtime::Gateway& gateway,
    const std::string& name,
    const std::string& key,
    std::string_view body);
[[nodiscard]] Response
delete_override(runtime::Gateway& gateway, const std::string& name, const std::string& key);

} // namespace stint::admin
