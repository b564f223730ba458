// PUT and DELETE /limits/NAME/overrides/KEY: sets or deletes other numbers for some keys of a limit
// at run time.
#pragma once

#include "admin/message.hpp"
#include "config/schema/schema.hpp"
#include "runtime/gateway.hpp"
#include "runtime/live_overrides.hpp"

#include <string>
#include <string_view>

namespace stint::admin {

// Parses the body of a PUT, such as {"requests": 200, "expires_in_ms": 7200000}. A concurrency
// limit takes "concurrent" instead of "requests"; a token bucket also takes "burst". Without
// "expires_in_ms" the override lasts until it is deleted or the process ends. The error is the
// response to send.
[[nodiscard]] Result<runtime::LiveOverride, Response>
override_in(std::string_view body, const config::Limit& limit, std::string pattern, const Now& now);

// Adds the run-time overrides of a limit to the member "overrides" of limit_json, which may already
// have the configured ones.
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
