// Changes of a limit in an emergency: blocks, the switch of `enforce`, and cleared counters.
#pragma once

#include "admin/message.hpp"
#include "config/schema/schema.hpp"
#include "runtime/gateway.hpp"
#include "runtime/limit_changes.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace stint::admin {

// The limit that a path names.
struct NamedLimit {
    const config::Limit& settings; // as in the file
    const runtime::ConfiguredLimit& limit;
};
// The error is the response to send.
[[nodiscard]] Result<NamedLimit, Response>
named_limit(const runtime::Gateway& gateway, std::string_view name);

// Returns the key in the form that routing uses, or the pattern. The error is the response to send.
[[nodiscard]] Result<std::string, Response> key_of(const NamedLimit& limit, const std::string& key);

// Handles POST /limits/NAME/block: {"key": "k", "for": "1h", "why": "…"}. Requests with the key are
// denied with 403; "client", a network, in place of "key" denies its clients. "for" is required.
[[nodiscard]] Response
block(runtime::Gateway& gateway, const std::string& name, std::string_view body);
// Handles POST /limits/NAME/unblock: {"key": "k"} or {"client": "192.0.2.0/24"}.
[[nodiscard]] Response
unblock(runtime::Gateway& gateway, const std::string& name, std::string_view body);

// Handles POST /limits/NAME/enforce: {"enforce": false, "for": "1h"}. "for" is required.
[[nodiscard]] Response
switch_enforce(runtime::Gateway& gateway, const std::string& name, std::string_view body);
// Handles DELETE /limits/NAME/enforce: the file's setting applies again.
[[nodiscard]] Response
end_switch(runtime::Gateway& gateway, const std::string& name, std::string_view query);

// Handles DELETE /limits/NAME/counters, of one key with ?key=K.
[[nodiscard]] Response
clear_counters(runtime::Gateway& gateway, const std::string& name, std::string_view query);

} // namespace stint::admin
