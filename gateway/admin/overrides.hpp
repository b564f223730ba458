// PUT and DELETE /limits/NAME/overrides/KEY: sets or deletes other numbers for some keys of a limit
// at run time. Without KEY: for the whole limit.
#pragma once

#include "admin/message.hpp"
#include "config/schema/schema.hpp"
#include "runtime/gateway.hpp"
#include "runtime/limit_changes.hpp"

#include <string>
#include <string_view>

namespace stint::admin {

// Parses the body of a PUT, such as {"requests": 200, "for": "2h", "why": "launch"}. A concurrency
// limit takes "concurrent" instead of "requests"; a token bucket also takes "burst". Without "for"
// the override lasts until it is deleted. key: as in LimitChange::Target. The error is the response
// to send.
[[nodiscard]] Result<runtime::LimitChange, Response>
override_in(std::string_view body, const config::Limit& limit, std::string key, const Now& now);

// Adds the run-time overrides of a limit's keys to the member "overrides" of limit_json, which may
// already have the configured ones.
void add_overrides(
    Json& limit_json,
    const config::Limit& limit,
    const runtime::LimitChanges& changes,
    const Now& now);

// key: empty for the whole limit.
[[nodiscard]] Response put_override(
    runtime::Gateway& gateway,
    const std::string& name,
    const std::string& key,
    std::string_view body);
[[nodiscard]] Response delete_override(
    runtime::Gateway& gateway,
    const std::string& name,
    const std::string& key,
    std::string_view query);

} // namespace stint::admin
