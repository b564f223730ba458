// Changes of a limit in an emergency: blocks, the switch of `enforce`, and cleared counters.
#pragma once

#include "admin/message.hpp"
#include "runtime/gateway.hpp"

#include <string>
#include <string_view>

namespace stint::admin {

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

// Handles DELETE /limits/NAME/counters; with ?key=K it clears the counter of one key. K is a key,
// not a pattern; an empty K stands for the requests without a key.
[[nodiscard]] Response
clear_counters(runtime::Gateway& gateway, const std::string& name, std::string_view query);

} // namespace stint::admin
